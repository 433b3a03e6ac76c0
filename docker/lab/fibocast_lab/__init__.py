"""Parts of fibocast-lab; begin reading in main.py."""

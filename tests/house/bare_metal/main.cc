// A program for a board: it exists so that the core is linked with newlib alone (see check.sh beside it).
int main() { return 0; }

"""A barrier and a sum through the daemon of FIBOCAST_SOCKET."""
import fibocast

with fibocast.connect() as client:
    group = client.open("all")
    group.barrier(deadline=20.0)
    print(f"passed as rank {group.rank} of {group.size}")
    print(f"the sum is {group.allreduce([42], 'sum')[0]}")

"""How long a barrier takes whose members arrive one by one: the event model of A1 and A30, for any arrivals.

Up the reduction tree, a member sends when it is there and has received from all its children; down the distribution
tree, the root begins when all that is done. A node has one processor: it is busy s for a send, o for a receipt that has
travelled l before; first come, first served, receipts before sends, then by source. The papers have no theory of skew:
this is their model, followed message by message.
"""
import heapq

DONE, RECEIVE, SEND = range(3)  # the order of what happens at one instant


class Barrier:
    def __init__(self, arrivals, up, down, costs):
        self.up, self.down, self.costs = up, down, costs
        self.parent = {child: v for v, children in enumerate(up) for child in children}
        self.missing = [len(children) + 1 for children in up]
        self.free = [0] * len(up)
        self.active = [None] * len(up)
        self.events, self.count = [], 0
        for v, time in enumerate(arrivals):
            self.at(time, DONE, v, v, self.is_ready)

    def run(self):
        """When each member is released."""
        while self.events:
            time, kind, source, node, then = heapq.heappop(self.events)
            if kind == DONE:
                then(node, time)
            else:
                self.occupy(time, kind, source, node, then)
        return self.active

    def at(self, time, kind, source, node, then):
        self.count += 1
        heapq.heappush(self.events, (time, kind, source, node, _Step(then, self.count)))

    def occupy(self, time, kind, source, node, then):
        cost = self.costs[node].occupancy if kind == RECEIVE else self.costs[node].send
        self.free[node] = max(self.free[node], time) + cost
        self.at(self.free[node], DONE, source, node, then)

    def send(self, source, target, time, then):
        def sent(_, end):
            self.at(end + self.costs[source].latency, RECEIVE, source, target, then)
        self.at(time, SEND, source, source, sent)

    def is_ready(self, node, time):
        """One of what a member waits for: itself, or a child's message."""
        self.missing[node] -= 1
        if self.missing[node]:
            return
        if node in self.parent:
            self.send(node, self.parent[node], time, self.is_ready)
        else:
            self.is_released(node, time)

    def is_released(self, node, time):
        self.active[node] = time
        for child in self.down[node]:
            self.send(node, child, time, self.is_released)


class _Step:
    """What comes next; events at one instant keep the order in which they were made."""

    def __init__(self, call, number):
        self.call, self.number = call, number

    def __call__(self, node, time):
        self.call(node, time)

    def __lt__(self, other):
        return self.number < other.number


def last_to_last(arrivals, up, down, costs):
    return max(Barrier(arrivals, up, down, costs).run()) - max(arrivals)


def loop(iterations, with_multicast, up, down, costs):
    """When the last member is through with so many barriers in a row, or multicasts with a barrier after each. What a
    node still has to send of one operation delays the next."""
    calls, free = [0] * len(up), [0] * len(up)
    for _ in range(iterations):
        if with_multicast:
            multicast = Barrier([], up, down, costs)
            multicast.free = free
            multicast.is_released(0, calls[0])
            calls = multicast.run()
        barrier = Barrier(calls, up, down, costs)
        barrier.free = free
        calls = barrier.run()
    return max(calls)

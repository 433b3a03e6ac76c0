// etcd through its own client (gRPC): everybody puts a key, rank 0 watches them come and puts the key that all others
// watch. Multicast: rank 0 puts the bytes. Arguments and files as way.h has them; WORDS: the endpoint.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"go.etcd.io/etcd/clientv3"
)

const warmUps, most, least = 4, 2000, 5 // a barrier of 64 takes 50 ms
const budget = 80_000_000 // ns of an operation's repetitions together

type peer struct {
	rank, n   int
	directory string
	client    *clientv3.Client
	come, go_ clientv3.WatchChan
	seen      int64 // arrivals that rank 0 saw
	round     int64
	pending   []string // values that were put for all and not yet taken
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
}

func now() int64 { // CLOCK_MONOTONIC
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func (p *peer) put(key, value string) {
	_, err := p.client.Put(context.Background(), key, value)
	check(err)
}

// What rank 0 puts, in its order.
func (p *peer) wait() string {
	for len(p.pending) == 0 {
		for _, event := range (<-p.go_).Events {
			p.pending = append(p.pending, string(event.Kv.Value))
		}
	}
	first := p.pending[0]
	p.pending = p.pending[1:]
	return first
}

func (p *peer) barrier() {
	p.round++
	if p.rank != 0 {
		p.put(fmt.Sprintf("come/%d", p.rank), strconv.FormatInt(p.round, 10))
		p.wait()
		return
	}
	for p.seen < p.round*int64(p.n-1) {
		p.seen += int64(len((<-p.come).Events))
	}
	p.put("go", "")
}

func (p *peer) multicast(data []byte) []byte {
	if p.rank == 0 {
		p.put("go", string(data))
		return data
	}
	return []byte(p.wait())
}

// CPU time in us and wake-ups; rank 0 adds those of the servers, whose numbers are in the environment.
func (p *peer) usage() (int64, int64) {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	cpu, wakeups := (u.Utime.Nano()+u.Stime.Nano())/1000, u.Nvcsw
	if p.rank != 0 {
		return cpu, wakeups
	}
	for _, pid := range strings.Fields(os.Getenv("FIBOCAST_PEERS_SERVERS")) {
		threads, err := filepath.Glob("/proc/" + pid + "/task/*")
		check(err)
		for _, thread := range threads {
			more, waits := usageOfThread(thread)
			cpu, wakeups = cpu+more, wakeups+waits
		}
	}
	return cpu, wakeups
}

func usageOfThread(thread string) (int64, int64) {
	text, _ := os.ReadFile(thread + "/schedstat")
	ns, _ := strconv.ParseInt(strings.Fields(string(text) + " 0")[0], 10, 64)
	status, _ := os.ReadFile(thread + "/status")
	var switches int64
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "voluntary_ctxt_switches:") {
			switches, _ = strconv.ParseInt(strings.Fields(line)[1], 10, 64)
		}
	}
	return ns / 1000, switches
}

func messages() int64 {
	text, err := os.ReadFile("/proc/net/snmp")
	check(err)
	lines, total := strings.Split(string(text), "\n"), int64(0)
	for i := 0; i+1 < len(lines); i += 2 {
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		for k, name := range names {
			if names[0] == "Udp:" && name == "OutDatagrams" || names[0] == "Tcp:" && name == "OutSegs" {
				value, _ := strconv.ParseInt(values[k], 10, 64)
				total += value
			}
		}
	}
	return total
}

func (p *peer) repeat(name string, once func(int) (int64, int64)) {
	for i := 0; i < warmUps; i++ {
		once(i)
	}
	begin := now()
	for i := 0; i < warmUps; i++ {
		once(i)
	}
	path := filepath.Join(p.directory, name+".count")
	if p.rank == 0 {
		count := budget / ((now()-begin)/warmUps + 1)
		if count > most {
			count = most
		}
		if count < least {
			count = least
		}
		check(os.WriteFile(path, []byte(strconv.FormatInt(count, 10)), 0o644))
	}
	p.barrier()
	text, err := os.ReadFile(path)
	check(err)
	count, err := strconv.Atoi(string(text))
	check(err)
	words := make([]int64, 3, 3+2*count)
	p.barrier()
	cpu, wakeups := p.usage()
	sent := messages()
	for i := 0; i < count; i++ {
		begin, end := once(i)
		words = append(words, begin, end)
	}
	words[2] = messages() - sent
	cpuAfter, wakeupsAfter := p.usage()
	words[0], words[1] = cpuAfter-cpu, wakeupsAfter-wakeups
	p.barrier()
	file, err := os.Create(filepath.Join(p.directory, name+"."+strconv.Itoa(p.rank)))
	check(err)
	check(binary.Write(file, binary.LittleEndian, words))
	check(file.Close())
}

func main() {
	if len(os.Args) < 6 {
		fmt.Fprintln(os.Stderr, "usage: etcd_peer VARIANT RANK N DIRECTORY ENDPOINT")
		os.Exit(2)
	}
	rank, _ := strconv.Atoi(os.Args[2])
	n, _ := strconv.Atoi(os.Args[3])
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Args[5]}, DialTimeout: 10 * time.Second})
	check(err)
	p := &peer{rank: rank, n: n, directory: os.Args[4], client: client}
	// Watched from the first revision on: nothing that was put before the watch began is missed.
	p.come = client.Watch(context.Background(), "come/", clientv3.WithPrefix(), clientv3.WithRev(1))
	p.go_ = client.Watch(context.Background(), "go", clientv3.WithRev(1))
	p.repeat("barrier.0", func(int) (int64, int64) {
		begin := now()
		p.barrier()
		return begin, now()
	})
	for _, size := range []int{64, 1024, 64 * 1024, 1024 * 1024} {
		name := "multicast." + strconv.Itoa(size)
		if size == 1024*1024 {
			size -= 4096 // etcd's limit is 1.5 MiB a request, its watch's 1 MiB with all around it
		}
		data := make([]byte, size)
		p.repeat(name, func(i int) (int64, int64) {
			mark := byte(i%251 + 1)
			for k := range data {
				data[k] = mark
			}
			p.barrier()
			begin := now()
			got := p.multicast(data)
			end := now()
			if len(got) != size || bytes.Count(got, []byte{mark}) != size {
				check(fmt.Errorf("multicast: wrong bytes"))
			}
			return begin, end
		})
	}
}

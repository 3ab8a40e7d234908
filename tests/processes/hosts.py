"""Hosts on one machine: network namespaces, and a switch between them whose links delay, lose, slow and cut.

Each host is a network of its own, with one device, `wire`, a name of its own, and its own memory at /dev/shm. What its device sends comes to a thread of
this process, which hands it on as an Ethernet switch would: later, or not at all. It needs Linux, /dev/net/tun and the right
to make namespaces, which root has, or anybody where users may be mapped (`enter_namespace`).
"""
import fcntl
import heapq
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
MTU = 65000  # bytes; the largest packets that a device takes are 65535
INSIDE = "WEFT_TEST_INSIDE"  # set below `unshare`


def enter_namespace():
    """Runs this script again in a network of its own, as root of a user namespace unless it is root already: it may come back
    there from the networks of hosts. Why hosts cannot be made, or ""."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun: expected a device that this user may open"
    if shutil.which("ip") is None:
        return "ip (of the package iproute2): expected, found none"
    if INSIDE in os.environ:
        return ""
    unshare = ["unshare", "-n", *([] if os.geteuid() == 0 else ["-Ur"])]
    tried = subprocess.run([*unshare, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        return tried.stderr.strip()
    os.environ[INSIDE] = "1"
    os.execvp("unshare", [*unshare, sys.executable, *sys.argv])


class Link:
    """What happens to packets on their way between a host and the switch, either way. May be changed at any time."""

    def __init__(self, delay_s=0.0, loss=0.0, bytes_per_s=None):
        self.delay_s, self.loss, self.bytes_per_s = delay_s, loss, bytes_per_s
        self.cut = False
        self.free_at = 0.0  # when all that was sent before is through

    def leaves_at(self, now, size, rng):
        """When a packet is through; None: it is lost."""
        if self.cut or rng.random() < self.loss:
            return None
        begin = max(now, self.free_at)
        self.free_at = begin + (size / self.bytes_per_s if self.bytes_per_s else 0)
        return self.free_at + self.delay_s


class Host:
    """One host: `run` gives the command that runs another one there."""

    def __init__(self, name, number):
        self.name, self.address = name, f"10.0.0.{number}"
        self.link = Link()
        self.shell = ""  # that of the network, where it is written
        self.holder = subprocess.Popen(
            ["unshare", "-num", "sh", "-c",
             "mount -t tmpfs memory /dev/shm && hostname " + name + " && echo made && exec sleep infinity"],
            stdout=subprocess.PIPE)
        assert self.holder.stdout.readline() == b"made\n", f"host {name}: expected a namespace, got none"
        self.tun = self._open_tun()
        for command in ("ip link set lo up", f"ip address add {self.address}/24 dev wire", f"ip link set dev wire mtu {MTU} up"):
            subprocess.run([*self.run(), *command.split()], check=True)

    def run(self):
        return ["nsenter", "-t", str(self.holder.pid), "-n", "-u", "-m", "--wdns=" + os.getcwd()]

    def memory(self):
        """Where its /dev/shm is for processes elsewhere."""
        return os.path.join("/proc", str(self.holder.pid), "root", "dev", "shm")

    def lose_memory(self):
        for name in os.listdir(self.memory()):
            path = os.path.join(self.memory(), name)
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.remove(path)

    def _open_tun(self):
        """A device in the host's network; its descriptor is of use here too."""
        own = os.open("/proc/self/ns/net", os.O_RDONLY)
        other = os.open(f"/proc/{self.holder.pid}/ns/net", os.O_RDONLY)
        _setns(other)
        try:
            tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", b"wire", IFF_TUN | IFF_NO_PI))
        finally:
            _setns(own)
            os.close(own)
            os.close(other)
        return tun

    def come_back(self):
        """One that had died."""
        os.remove(self._down())
        self.link.cut = False

    def fail_once(self):
        """The next helper of mpirun that the shell is to start there does not start."""
        open(f"{self.shell}.{self.name}.fails", "w").close()

    def _down(self):
        """Where this file is, the shell does not reach the host."""
        return f"{self.shell}.{self.name}.down"

    def processes(self):
        """Those that run there, but for the one that holds it."""
        here = os.readlink(f"/proc/{self.holder.pid}/ns/net")
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and int(entry) != self.holder.pid and os.readlink(f"/proc/{entry}/ns/net") == here:
                    found.append(int(entry))
            except OSError:  # it has ended
                pass
        return found

    def die(self):
        """As a host that loses its power: nothing of it is heard any more."""
        self.link.cut = True
        if self.shell:
            open(self._down(), "w").close()
        for process in self.processes():
            os.kill(process, signal.SIGKILL)
        self.lose_memory()


def over_the_wire(folder):
    """The environment of an mpirun whose processes talk over the hosts' network alone, and whose files are in a folder."""
    environment = {key: value for key, value in os.environ.items() if key != "XML_OUTPUT_FILE"}
    for key, value in {"oob_tcp_if_include": "wire", "btl_tcp_if_include": "wire", "btl": "tcp,self", "orte_tmpdir_base": folder,
                       "odls_base_sigkill_timeout": "3"}.items():
        environment["OMPI_MCA_" + key] = value
    return environment


def _setns(descriptor):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Network:
    """Hosts of these names, and the switch between them. Close it."""

    def __init__(self, names, seed=0):
        self.hosts = {name: Host(name, number + 1) for number, name in enumerate(names)}
        self.bytes = 0  # that have arrived
        self._rng = random.Random(seed)
        self._open = True
        self._thread = threading.Thread(target=self._switch, daemon=True)
        self._thread.start()

    def write_shell(self, path):
        """A script with which mpirun starts its helper on another host, as by a remote shell: HOST COMMAND..."""
        holders = " ".join(f"{host.name}) holder={host.holder.pid};;" for host in self.hosts.values())
        with open(path, "w") as out:
            out.write(f'#!/bin/bash\n[ ! -e "$0.$1.down" ] || exit 255\n[[ "$*" != *orted* ]] || ! rm "$0.$1.fails" 2>/dev/null || exit 255\ncase $1 in {holders} esac\nshift\n'
                      'exec nsenter -t "$holder" -n -u -m --wdns="$PWD" bash -c "$*"\n')
        os.chmod(path, 0o755)
        for host in self.hosts.values():
            host.shell = path
            for left in (host._down(), path + "." + host.name + ".fails"):  # by a network of the same names before this one
                if os.path.exists(left):
                    os.remove(left)

    def close(self):
        for host in self.hosts.values():
            host.die()
            host.holder.kill()
            host.holder.wait()
            host.holder.stdout.close()
        self._open = False
        self._thread.join()
        for host in self.hosts.values():
            os.close(host.tun)

    def _switch(self):
        by_address = {bytes(int(part) for part in host.address.split(".")): host for host in self.hosts.values()}
        by_tun = {host.tun: host for host in self.hosts.values()}
        under_way, count = [], 0  # by the time at which they arrive
        while self._open:
            now = time.monotonic()
            while under_way and under_way[0][0] <= now:
                _, _, host, packet = heapq.heappop(under_way)
                try:
                    self.bytes += os.write(host.tun, packet)
                except OSError:  # its queue is full, or it is gone: lost, as on a wire
                    pass
            wait = min(0.1, under_way[0][0] - now) if under_way else 0.1
            for tun in select.select(list(by_tun), [], [], max(wait, 0))[0]:
                try:
                    packet = os.read(tun, MTU + 100)
                except OSError:
                    continue
                to = by_address.get(packet[16:20]) if packet[0] >> 4 == 4 else None
                if to is None:  # not for a host: such as what IPv6 says of itself
                    continue
                now = time.monotonic()
                left = by_tun[tun].link.leaves_at(now, len(packet), self._rng)
                at = None if left is None else to.link.leaves_at(left, len(packet), self._rng)
                if at is not None:
                    heapq.heappush(under_way, (at, count, to, packet))
                    count += 1

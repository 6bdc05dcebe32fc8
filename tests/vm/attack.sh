#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2028,SC2088,SC2317  # commands are texts, which another bash runs
# Tries to leave a closed instance, or to become more than its user. Runs there as that user. Prints a line
# for each way, with the end of what it printed, and then "N of M closed".
#
# Usage: attack.sh [PORT]
#   PORT  of this host's loopback, where something listens (22)
set -u
export LC_ALL=C
n=0 ok=0 hostport=${1:-22}

t() { # NAME COMMAND: open if the command succeeds
  local out state=OPEN
  n=$((n + 1))
  out=$(timeout 12 bash -c "$2" 2>&1 </dev/null) || {
    state=closed
    ok=$((ok + 1))
  }
  printf '%2d %-6s %-58s %s\n' "$n" "$state" "$1" "$(printf %s "$out" | tr '\n\t' '  ' | tail -c 110)"
}
py=$(command -v python3) || exit 1
# Prints the address families of sockets that can be made besides Unix, IPv4, IPv6 and netlink.
fam='import socket
def can(f, t, p):
    try: socket.socket(f, t, p); return 1
    except OSError: return 0
print([f for f in range(3, 46) if f not in (10, 16) and any(can(f, t, p) for t in (1, 2, 3, 5) for p in (0, 1, 2))] or exit(1))'

# A unit of the user's own.
mkdir -p ~/.config/systemd/user
printf '[Service]\nType=oneshot\nExecStart=-/bin/sh /tmp/own.sh\nStandardOutput=file:/tmp/own.out\n' >~/.config/systemd/user/own.service
rm -f /tmp/own.out
printf '%s\n' 'echo ran' "$py -c '$fam'" "grep NoNewPrivs:.*0 /proc/self/status" >/tmp/own.sh

# The command that sends a DNS query by UDP.
udp() { # ADDRESS PORT
  echo "$py -c \"
import socket;s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.settimeout(4);s.sendto(b'\\x12\\x34\\x01\\0\\0\\1\\0\\0\\0\\0\\0\\0\\7example\\3com\\0\\0\\1\\0\\1',('$1',$2));print(s.recv(512))\""
}

# out, IPv4
t "TCP to the slirp gateway 192.168.5.2:22 (host's loopback)"   ": </dev/tcp/192.168.5.2/22"
t "TCP to 192.168.5.2:$hostport, where the host listens"        ": </dev/tcp/192.168.5.2/$hostport"
t "TCP to 10.0.2.2:22"                                          ": </dev/tcp/10.0.2.2/22"
t "TCP to an Internet address 1.1.1.1:443"                      ": </dev/tcp/1.1.1.1/443"
t "TCP to another address 203.0.113.80:443"                        "curl -sS -m 8 -k -o /dev/null https://203.0.113.80/"
t "TCP from source port 22"                                     "$py -c \"import socket;s=socket.socket();s.setsockopt(1,2,1);s.bind(('0.0.0.0',22));s.settimeout(4);s.connect(('192.168.5.2',22))\""
t "TCP from source port 1022"                                   "$py -c \"import socket;s=socket.socket();s.bind(('0.0.0.0',1022));s.settimeout(4);s.connect(('192.168.5.2',22))\""
t "DNS over UDP to 192.168.5.3"                                 "$(udp 192.168.5.3 53)"
t "DNS over TCP to 192.168.5.3"                                 ": </dev/tcp/192.168.5.3/53"
t "DNS to 8.8.8.8"                                              "$(udp 8.8.8.8 53)"
t "a name through systemd-resolved (a system user asks)"        "resolvectl query --legend=no example.com || getent hosts example.org"
t "a name by resolved's stub 127.0.0.53"                        "$(udp 127.0.0.53 53) | grep -v '\\\\x82'"
t "ICMP by an unprivileged ping socket"                         "$py -c \"import socket;s=socket.socket(2,2,1);s.settimeout(4);s.sendto(b'\\x08\\0\\0\\0\\0\\1\\0\\1'+b'x'*16,('192.168.5.2',0));print(s.recv(99))\""
t "ping"                                                        "ping -c1 -W3 192.168.5.2"
t "TFTP of slirp 192.168.5.2:69"                                "$(udp 192.168.5.2 69)"
t "UDP to port 67 from an ordinary port"                        "$(udp 192.168.5.2 67)"
t "multicast DNS 224.0.0.251:5353"                              "$py -c \"import socket;s=socket.socket(2,2);s.sendto(b'x',('224.0.0.251',5353))\""
t "broadcast 255.255.255.255:9"                                 "$py -c \"import socket;s=socket.socket(2,2);s.setsockopt(1,6,1);s.sendto(b'x',('255.255.255.255',9))\""

# out, IPv6
t "IPv6 TCP to slirp fec0::2:22"                                "$py -c \"import socket;s=socket.socket(10);s.settimeout(4);s.connect(('fec0::2',22))\""
t "IPv6 TCP to 2606:4700:4700::1111:443"                        "$py -c \"import socket;s=socket.socket(10);s.settimeout(4);s.connect(('2606:4700:4700::1111',443))\""
t "IPv6 link-local UDP to all nodes ff02::1"                    "$py -c \"import socket;s=socket.socket(10,2);s.sendto(b'x',('ff02::1',9,0,socket.if_nametoindex('eth0')))\""
t "IPv4-mapped ::ffff:192.168.5.2:22"                           "$py -c \"import socket;s=socket.socket(10);s.settimeout(4);s.connect(('::ffff:192.168.5.2',22))\""

# other doors
t "raw IP socket"                                               "$py -c \"import socket;socket.socket(2,3,255)\""
t "packet socket (below the firewall)"                          "$py -c \"import socket;socket.socket(17,3,0x300)\""
t "user namespace with root in it"                              "unshare -Ur id"
t "user and network namespace, packet socket on eth0"           "unshare -Urn $py -c \"import socket;s=socket.socket(17,3,0x300);s.bind(('eth0',0))\""
t "vsock to the host (CID 2)"                                   "$py -c \"import socket;s=socket.socket(40,1);s.settimeout(3);s.connect((2,22))\""
t "vsock socket at all"                                         "$py -c \"import socket;socket.socket(40,1)\""
t "SCTP socket"                                                 "$py -c \"import socket;socket.socket(2,1,132)\""
t "sockets but Unix, IPv4, IPv6, netlink"                       "$py -c '$fam'"
t "the same, or privileges, from a unit of the user's own"        "systemctl --user daemon-reload; systemctl --user start own; grep -q ran /tmp/own.out || echo not tried; grep -v ran /tmp/own.out"
t "PPPoE frames to any MAC address (below the firewall)"        "$py -c \"import ctypes;l=ctypes.CDLL(None);s=l.socket(24,1,0);a=b'\\x18\\0\\0\\0\\0\\0\\x12\\x34'+b'\\xff'*6+b'eth0'.ljust(16,b'\\0');exit(s<0 or l.connect(s,a,30) or l.send(s,b'\\0!x',4,0)<1)\""
t "32-bit system calls (seen by no filter of 64-bit ones)"      "[ \$(uname -m) = x86_64 ] && $py -c \"import ctypes,mmap;m=mmap.mmap(-1,4096,prot=7);m.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3');exit(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()<1)\""
t "TUN device"                                                  "$py -c \"import os,fcntl,struct;f=os.open('/dev/net/tun',2);fcntl.ioctl(f,0x400454ca,struct.pack('16sH22x',b'x',1))\""
t "serial console ttyS0"                                        "echo x >/dev/ttyS0"
t "virtio-serial ports"                                         "ls /dev/virtio-ports/* && echo x >\$(ls /dev/virtio-ports/* | head -1)"
t "sshd of the guest by password, as root"                      "ssh -o BatchMode=yes -o StrictHostKeyChecking=no root@127.0.0.1 id"
t "an SSH agent of the host"                                    "[ -n \"\$SSH_AUTH_SOCK\" ] && ssh-add -l"
t "X11 of the host"                                             "[ -n \"\$DISPLAY\" ]"
t "docker or containerd socket"                                 "for s in /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock /var/lib/lxd/unix.socket /run/snapd.socket; do [ ! -w \$s ] || exit 0; done; exit 1"
t "shared file systems of the host (9p, virtiofs, sshfs)"       "grep -E ' (9p|virtiofs|fuse.sshfs) ' /proc/mounts"

# up
t "sudo without a password"                                     "sudo -n id"
t "~/password"                                                  "cat ~/password"
t "su with an empty password"                                   "echo | su -c id"
t "remove the mark (a new password at the next boot)"           "rm -f ~/.lima-password-set && [ ! -e ~/.lima-password-set ]"
t "rename the mark"                                             "mv ~/.lima-password-set ~/x"
t "replace the home directory"                                  "mv ~ ~.old"
t "setuid or setgid file that I may execute"                    "find / -xdev -type f -perm /6000 -executable 2>/dev/null | grep ."
t "setuid bits and file capabilities that take effect"         "grep -E 'NoNewPrivs:.*0' /proc/self/status"
t "the same in a session with a key of my own"                  "cd; rm -f k k.pub; ssh-keygen -q -t ed25519 -N '' -f k; cp .ssh/authorized_keys a; cat k.pub >>.ssh/authorized_keys; ssh -n -i k -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null 127.0.0.1 cat /proc/self/status | tee s | grep -E 'NoNewPrivs:.*0'; s=\$?; cat a >.ssh/authorized_keys; grep NoNew s; rm -f a k k.pub s; exit \$s"
t "flush the rules"                                             "/usr/sbin/iptables -F || /usr/sbin/nft flush ruleset"
t "stop the unit"                                               "systemctl stop agent-offline || pkexec systemctl stop agent-offline"
t "change the unit or the rules file"                           "echo >>/etc/systemd/system/agent-offline.service || cat /usr/local/sbin/agent-offline-rules"
t "set the interface down or add an address"                    "ip addr add 10.9.9.9/24 dev eth0 || ip link set eth0 down"
t "sysctl: allow low ports"                                     "echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start"
t "writable file in /etc, units, cron, profile"                 "find /etc /usr /lib /var/lib/cloud /opt -xdev -writable ! -type l 2>/dev/null | grep ."
t "cloud-init's user-data and instance data"                    "cat /var/lib/cloud/instance/user-data.txt || cat /run/cloud-init/instance-data-sensitive.json"
t "the cidata disk"                                             "head -c1 /dev/disk/by-label/cidata || ls /mnt/lima-cidata"
t "the disk itself"                                             "head -c1 /dev/vda"
t "polkit: the name of the machine, by D-Bus"                   "busctl call --timeout=5 org.freedesktop.hostname1 /org/freedesktop/hostname1 org.freedesktop.hostname1 SetStaticHostname sb x false"
t "polkit: the time, by D-Bus"                                  "busctl call --timeout=5 org.freedesktop.timedate1 /org/freedesktop/timedate1 org.freedesktop.timedate1 SetTime xbb 1000000 true false"
t "polkit: systemd StartTransientUnit"                          "systemd-run --no-ask-password id"
t "resolved: other DNS server by D-Bus"                         "resolvectl dns eth0 127.0.0.1"
t "linger: processes before the provisioning of the next boot"  "loginctl enable-linger --no-ask-password"
t "cron or at"                                                  "(crontab -l; echo '@reboot id') | crontab - || echo id | at now"
t "kexec, modules, bpf"                                         "modprobe dummy || $py -c \"import ctypes;l=ctypes.CDLL(None,use_errno=True);import sys;sys.exit(0 if l.syscall(321,0,ctypes.create_string_buffer(b'\\2\\0\\0\\0\\4\\0\\0\\0\\4\\0\\0\\0\\1\\0\\0\\0',72),72)>=0 else 1)\""
t "dmesg, kernel addresses"                                     "dmesg || grep -v '^0000000000000000' /proc/kallsyms"

printf '%d of %d closed\n' "$ok" "$n"

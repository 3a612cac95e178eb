import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { DROPPED, RESOLVER, SOURCES, STATE } from './addresses.ts'

/**
 * Makes the private network that this process stands in (unshare(1)) own every address, gives it the machine's own
 * addresses on eth0, and puts a resolv.conf of its own and an empty /run in place. Nothing of it is seen outside.
 */
export function makeNetwork(): void {
  const { allowed, refused, nameless, allowed6, refused6 } = SOURCES
  sh(`
ip link set lo up
ip link add eth0 type veth peer name far0 2>/dev/null || ip link add eth0 type dummy
for address in ${allowed} ${refused} ${nameless}; do ip addr add $address/32 dev eth0; done
for address in ${refused6} ${allowed6}; do ip -6 addr add $address/128 dev eth0 nodad; done
ip link set eth0 up
ip link set far0 up 2>/dev/null || true
ip route add local 0.0.0.0/0 dev lo src ${allowed}
ip -6 route add local ::/0 dev lo src ${allowed6}
echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind
echo 4096 > /proc/sys/net/core/somaxconn
echo '16384 65535' > /proc/sys/net/ipv4/ip_local_port_range
mount -t tmpfs -o mode=755 tmpfs /run`)
  for (const address of DROPPED) sh(`iptables -w -A INPUT -d ${address} -j DROP`)
  mkdirSync(STATE, { recursive: true })
  writeFileSync(`${STATE}/resolv.conf`, `nameserver ${RESOLVER}\noptions edns0 trust-ad\n`)
  // Where resolv.conf is a link into /run, its target is gone with the old /run.
  sh(`
target=$(readlink -f /etc/resolv.conf || echo /etc/resolv.conf)
mkdir -p "$(dirname "$target")"
[ -e "$target" ] || : > "$target"
mount --bind ${STATE}/resolv.conf "$target"`)
}

const sh = (script: string): void =>
  void execFileSync('sh', ['-e', '-c', script], { stdio: ['ignore', 'ignore', 'inherit'] })

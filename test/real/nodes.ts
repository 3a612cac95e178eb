import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync } from 'node:fs'
import { CA_FILE, FAR_RESOLVER, STATE } from './addresses.ts'
import { logFile, untilReady } from './processes.ts'

/** The secret of the lab's cluster. */
export const SECRET = 'the secret of the test network'
const PORT = 8080

/** A machine of its own in the test network: a network namespace with addresses that stand nowhere else. */
export type Machine = { readonly name: string; readonly addresses: readonly string[] }

export type Node = {
  readonly id: string
  readonly url: string
  /** GET as somebody with the key of this node. */
  readonly get: (path: string) => Promise<{ readonly status: number; readonly body: unknown }>
  /** Ends the program and tells its exit status (null: it was killed). */
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<number | null>
  /** Stops the process where it stands, or lets it go on. */
  readonly freeze: (signal: 'SIGSTOP' | 'SIGCONT') => void
}

/**
 * Puts a machine on the test network: its own namespace, joined by a cable; it reaches everything, and everything
 * reaches its addresses.
 */
export function plugIn({ name, addresses }: Machine): void {
  sh(`
ip netns add ${name}
ip link add ${name} type veth peer name far-${name}
ip link set far-${name} netns ${name}
ip link set ${name} up
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 1 > /proc/sys/net/ipv4/conf/${name}/proxy_arp
ip netns exec ${name} sh -e -c '
ip link set lo up
ip link set far-${name} name eth0
${addresses.map((address) => `ip addr add ${address}/32 dev eth0`).join('\n')}
ip link set eth0 up
ip route add default dev eth0 src ${addresses[0]}'
${addresses.map((address) => `ip route add ${address}/32 dev ${name} table local`).join('\n')}`)
}

/** Takes a machine away again. */
export function unplug({ name }: Machine): void {
  sh(`ip link del ${name} || true; ip netns del ${name} || true`)
}

/** A data folder, for a node that is started again. */
export const dataFolder = (): string => mkdtempSync(`${STATE}/node-`)

/** Starts `serve` on a machine, in the cluster, with a lease of two seconds, and waits until it is healthy. */
export async function startNode(
  { name, addresses }: Machine,
  options: { readonly data: string; readonly flags?: readonly string[]; readonly isCourteous?: boolean },
): Promise<Node> {
  const url = `http://${addresses[0]}:${PORT}`
  const key = `key-of-${name}`
  const flags = [
    ...['--host', addresses[0]!, '--port', String(PORT), '--data-dir', options.data, '--api-key', key],
    ...['--node-id', name, '--node-url', url, '--peer-secret', SECRET, '--peer-ttl', '2s', '--region', `lab ${name}`],
    ...['--allow-network', '45.53.3.0/24', '--resolver', FAR_RESOLVER, '--rate', '1000000'],
    ...(options.isCourteous ? [] : ['--no-courtesy']),
    ...(options.flags ?? []),
  ]
  const out = openSync(logFile(`node-${name}`), 'a')
  const child = spawn('ip', ['netns', 'exec', name, process.execPath, 'src/main.js', 'serve', ...flags], {
    stdio: ['ignore', out, out],
    env: { ...process.env, NODE_EXTRA_CA_CERTS: CA_FILE },
  })
  const get = (path: string) => ask(`${url}${path}`, key)
  await untilReady(`node-${name}`, async () => (await get('/v1/health')).status === 200)
  return { id: name, url, get, end: (signal) => ended(child, signal), freeze: (signal) => void child.kill(signal) }
}

async function ask(url: string, key: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: await response.json() }
}

/** `ip netns exec` becomes the program: its child is the program itself. */
function ended(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  const exit = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  child.kill(signal)
  return exit
}

const sh = (script: string): void =>
  void execFileSync('sh', ['-e', '-c', script], { stdio: ['ignore', 'ignore', 'inherit'] })

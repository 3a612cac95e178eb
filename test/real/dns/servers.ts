import { Resolver } from 'node:dns/promises'
import { mkdirSync, writeFileSync } from 'node:fs'
import {
  BYSTANDERS,
  FAR_RESOLVER,
  FAULTY_SERVER,
  LEAF_SERVERS,
  RESOLVER,
  ROOT_SERVER,
  STALE_SERVER,
  STATE,
  TLD_SERVER,
  WATCHED_SERVERS,
} from '../addresses.ts'
import { startServer, untilReady } from '../processes.ts'
import { DOMAINS, type NameService } from '../world.ts'
import { emptyZones } from './tree.ts'
import { writeZones, type ZoneFile } from './write.ts'

const KNOTS = {
  root: [ROOT_SERVER],
  tld: [TLD_SERVER],
  leaf: [...LEAF_SERVERS, ...WATCHED_SERVERS],
  stale: [STALE_SERVER],
} as const
type Knot = keyof typeof KNOTS

/** Starts four knots, dnsdist before the faulty domains, and unbound on top; resolves when each answers. */
export async function startDns(): Promise<void> {
  const files = await writeZones()
  for (const name of Object.keys(KNOTS) as Knot[]) startKnot(name, files)
  writeFileSync(`${STATE}/dnsdist.conf`, dnsdistConfig())
  startServer('dnsdist', 'dnsdist', ['--supervised', '--disable-syslog', '-C', `${STATE}/dnsdist.conf`])
  writeFileSync(`${STATE}/root.hints`, `. 3600000 NS ns.root.test.\nns.root.test. 3600000 A ${ROOT_SERVER}\n`)
  writeFileSync(
    `${STATE}/unbound.conf`,
    unboundConfig(STATE, [RESOLVER, FAR_RESOLVER], `trust-anchor-file: "${STATE}/root.key"`),
  )
  startServer('unbound', 'unbound', ['-d', '-c', `${STATE}/unbound.conf`])
  const waits = Object.entries(KNOTS).map(([name, [address]]) =>
    untilAnswers(`knot-${name}`, address, name === 'root' ? '.' : 'test'),
  )
  await Promise.all([
    ...waits,
    untilAnswers('dnsdist', FAULTY_SERVER, 'delayed.test'),
    untilAnswers('unbound', RESOLVER, 'test'),
  ])
}

/** Resolves once the server at an address answers about a name, whatever it says. */
export const untilAnswers = (name: string, address: string, question: string): Promise<void> =>
  untilReady(name, async () => {
    const resolver = new Resolver({ timeout: 500, tries: 1 })
    resolver.setServers([address])
    return resolver.resolveSoa(question).then(
      () => true,
      (error: NodeJS.ErrnoException) => !['ECONNREFUSED', 'ETIMEOUT'].includes(error.code ?? ''),
    )
  })

function startKnot(name: Knot, files: readonly ZoneFile[]): void {
  const home = `${STATE}/knot-${name}`
  mkdirSync(home, { recursive: true })
  const empty = name === 'leaf' ? emptyZones().map((zone) => ({ name: zone, file: `${home}/none.zone` })) : []
  const zones = [...files.filter((zone) => zone.server === name), ...empty]
  writeFileSync(`${home}/knot.conf`, knotConfig(home, KNOTS[name], zones))
  startServer(`knot-${name}`, 'knotd', ['-c', `${home}/knot.conf`])
}

/**
 * The configuration of a knot that serves these zones at these addresses; a zone whose file is missing is answered by
 * SERVFAIL.
 */
export const knotConfig = (
  home: string,
  addresses: readonly string[],
  zones: readonly { readonly name: string; readonly file: string }[],
): string => `server:
    rundir: ${home}
    listen: [ ${addresses.map((address) => `${address}@53`).join(', ')} ]
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: ${home}
template:
  - id: default
    journal-content: none
    zonefile-sync: -1
    semantic-checks: off
zone:
${zones.map(({ name, file }) => `  - domain: "${name}."\n    file: ${file}`).join('\n')}
`

/** What dnsdist does with the questions of a domain. */
const FAULTS: Partial<Record<NameService, readonly [more: string, action: string]>> = {
  drop: ['', 'DropAction()'],
  truncate: ['TCPRule(false)', 'TCAction()'],
  no_tcp: ['TCPRule(true)', 'DropAction()'],
  delay: ['', 'DelayAction(400)'],
  formerr: ['', 'RCodeAction(DNSRCode.FORMERR)'],
  loss: ['ProbaRule(0.5)', 'DropAction()'],
  servfail_mx: ['QTypeRule(DNSQType.MX)', 'RCodeAction(DNSRCode.SERVFAIL)'],
}

const dnsdistConfig = (): string =>
  [
    `setLocal("${FAULTY_SERVER}:53")`,
    'setACL({"0.0.0.0/0", "::/0"})',
    'setSecurityPollSuffix("")',
    `newServer({address="${LEAF_SERVERS[0]}:53"}):setUp()`,
    ...DOMAINS.flatMap((domain) => {
      const fault = FAULTS[domain.service]
      if (!fault) return []
      const [more, action] = fault
      const rule = `makeRule("${domain.name}")`
      return [`addAction(${more ? `AndRule({${rule}, ${more}})` : rule}, ${action})`]
    }),
    '',
  ].join('\n')

/**
 * The configuration of an unbound at these addresses with the root hints of its folder; `more` stands behind its own
 * lines.
 */
export const unboundConfig = (home: string, addresses: readonly string[], more = ''): string => `server:
${addresses.map((address) => `  interface: ${address}`).join('\n')}
  access-control: 45.53.0.0/16 allow
  num-threads: 2
  so-reuseport: yes
  chroot: ""
  username: ""
  directory: "${home}"
  pidfile: "${home}/unbound.pid"
  use-syslog: no
  logfile: ""
  root-hints: "${home}/root.hints"
  ${more}
  module-config: "validator iterator"
  ede: yes
  val-log-level: 1
  local-zone: "test." nodefault
  do-not-query-localhost: no
${BYSTANDERS.map((address) => `  do-not-query-address: ${address}\n`).join('')}  outgoing-range: 4096
  num-queries-per-thread: 2048
  msg-cache-size: 64m
  rrset-cache-size: 128m
remote-control:
  control-enable: yes
  control-interface: ${home}/unbound.control
  control-use-cert: no
`

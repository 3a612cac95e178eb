import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { WrittenNode, WrittenRecord, WrittenZone } from '../../archetypes/cases.ts'
import { addressesOf, SOA } from '../../archetypes/lab.ts'
import { ARCHETYPE_RESOLVER, ARCHETYPE_ROOT, STATE } from '../addresses.ts'
import { startServer } from '../processes.ts'
import { knotConfig, unboundConfig, untilAnswers } from './servers.ts'

const ROOT_NAME = 'a.root-servers.net'
const HOME = `${STATE}/archetypes`

/**
 * Serves records as the archetypes write them: knot with one zone for each name with an SOA record and a root with all
 * other names, and unbound on top at {@link ARCHETYPE_RESOLVER}. `added` are lines of zone files with full names, which
 * stand in their zones as they are. Nothing is signed; a name with the fault SERVFAIL is a zone without file. Gives
 * what ends both.
 */
export async function serveRecords(world: WrittenZone, added: readonly string[] = []): Promise<() => Promise<void>> {
  rmSync(HOME, { recursive: true, force: true })
  mkdirSync(HOME, { recursive: true })
  const cuts = Object.keys(world).filter((name) => isCut(world[name]!))
  const lines = linesByCut(world, new Set(cuts), added)
  const root = [
    `. SOA ${ROOT_NAME}. hostmaster.root-servers.net. 2026010101 7200 900 1209600 300`,
    `. NS ${ROOT_NAME}.`,
    `${ROOT_NAME}. A ${ARCHETYPE_ROOT}`,
    ...cuts.flatMap((name) => serversOf(world[name]!).map((host) => `${name}. NS ${host}.`)),
    ...(lines.get('') ?? []),
  ]
  const zones = [
    writeZone('', root),
    ...cuts.map((cut) => writeZone(cut, isFaulty(world[cut]!) ? [] : (lines.get(cut) ?? []))),
  ]
  writeFileSync(`${HOME}/knot.conf`, knotConfig(HOME, [ARCHETYPE_ROOT, ...listenOf(world)], zones))
  writeFileSync(`${HOME}/root.hints`, `. 3600000 NS ${ROOT_NAME}.\n${ROOT_NAME}. 3600000 A ${ARCHETYPE_ROOT}\n`)
  writeFileSync(`${HOME}/unbound.conf`, unboundConfig(HOME, [ARCHETYPE_RESOLVER]))
  const servers = [
    startServer('knot-archetypes', 'knotd', ['-c', `${HOME}/knot.conf`]),
    startServer('unbound-archetypes', 'unbound', ['-d', '-c', `${HOME}/unbound.conf`]),
  ]
  await untilAnswers('knot-archetypes', ARCHETYPE_ROOT, '.')
  await untilAnswers('unbound-archetypes', ARCHETYPE_RESOLVER, '.')
  return async () => void (await Promise.all(servers.map(ended)))
}

const nameIn = (line: string): string => line.slice(0, line.indexOf(' ')).replace(/\.$/, '')

async function ended(server: ChildProcess): Promise<void> {
  const exit = once(server, 'exit')
  server.kill('SIGTERM')
  await exit
}

const isFaulty = (node: WrittenNode): boolean => node['!'] !== undefined
const isCut = (node: WrittenNode): boolean => isFaulty(node) || (node.SOA !== undefined && node.CNAME === undefined)

/** The zone of a name: the nearest cut that it is or is below; '' is the root. */
function cutOf(name: string, cuts: ReadonlySet<string>): string {
  for (let at = name; ; at = at.slice(at.indexOf('.') + 1)) {
    if (cuts.has(at)) return at
    if (!at.includes('.')) return ''
  }
}

const FALLBACK = 'ns1.dnshost.net'
const serversOf = ({ NS = [FALLBACK] }: WrittenNode): readonly string[] => [NS].flat().map(String)

/** The addresses of all name servers: one knot stands at each. */
const listenOf = (world: WrittenZone): readonly string[] => {
  const hosts = new Set(Object.values(world).flatMap((node) => (node.NS === undefined ? [] : serversOf(node))))
  return [...new Set([...hosts].flatMap((host) => addressesOf(world[host] ?? {})))]
}

function writeZone(name: string, lines: readonly string[]): { readonly name: string; readonly file: string } {
  const file = `${HOME}/${name || 'root'}.zone`
  if (lines.length > 0) writeFileSync(file, `$ORIGIN .\n$TTL 300\n${lines.join('\n')}\n`)
  return { name, file }
}

/** The lines of each zone file: the records of the world, then what is added. */
function linesByCut(
  world: WrittenZone,
  cuts: ReadonlySet<string>,
  added: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, string[]>()
  const add = (name: string, more: readonly string[]): void => {
    const cut = cutOf(name, cuts)
    const held = lines.get(cut)
    if (held) held.push(...more)
    else lines.set(cut, [...more])
  }
  for (const [name, node] of Object.entries(world)) add(name, nodeLines(name, node))
  for (const line of added) add(nameIn(line), [line])
  return lines
}

/** The records of a name; beside an alias there is nothing (RFC 1034 §3.6.2). */
function nodeLines(name: string, node: WrittenNode): readonly string[] {
  const types = node.CNAME === undefined ? Object.keys(node).filter((type) => !type.startsWith('!')) : ['CNAME']
  return types.flatMap((type) =>
    [node[type]!].flat(1).length === 0 || typeof node[type] === 'string'
      ? []
      : (node[type] as readonly WrittenRecord[]).map((record) => `${name}. ${type} ${dataOf(type, record)}`),
  )
}

const texts = (strings: string | readonly string[]): string => [strings].flat().flatMap(pieces).map(quoted).join(' ')

// biome-ignore lint/suspicious/noExplicitAny: the file writes each record type in its own way
const DATA: Readonly<Record<string, (record: any) => string>> = {
  TXT: texts,
  SPF: texts, // RFC 4408 §3.1.1
  MX: ([preference, host]) => `${preference} ${dotted(host)}`,
  CAA: ([flags, tag, value]) => `${flags} ${tag} ${quoted(value)}`,
  SOA: (parts) => {
    const { mname, rname, serial, refresh, retry, expire, minimum } = { ...SOA, ...parts }
    return `${dotted(mname)} ${dotted(rname)} ${serial} ${refresh} ${retry} ${expire} ${minimum}`
  },
  CNAME: (host) => dotted(host),
  NS: (host) => dotted(host),
  PTR: (host) => dotted(host),
  A: (address) => address,
  AAAA: (address) => address,
  TLSA: (parts: readonly (string | number)[]) => parts.join(' '),
  DS: (parts: readonly (string | number)[]) => parts.join(' '),
  DNSKEY: (parts: readonly (string | number)[]) => parts.join(' '),
}

function dataOf(type: string, record: WrittenRecord): string {
  const write = DATA[type]
  if (!write) throw new Error(`no zone form of ${type}`)
  return write(record)
}

const dotted = (name: string): string => (name.endsWith('.') ? name : `${name}.`)
/** Strings of at most 255 octets (RFC 1035 §3.3.14). */
const pieces = (text: string): readonly string[] => text.match(/.{1,255}/gs) ?? ['']
/** Each character is an octet; those that a zone file cannot show stand as `\\DDD` (RFC 1035 §5.1). */
const quoted = (octets: string): string =>
  `"${octets.replace(/["\\]|[^ -~]/g, (one) => (/["\\]/.test(one) ? `\\${one}` : `\\${String(one.charCodeAt(0)).padStart(3, '0')}`))}"`

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { STATE } from '../addresses.ts'
import { runTool } from '../processes.ts'
import { type Delegation, type Zone, zones } from './tree.ts'

const FOLDER = `${STATE}/zones`
const TTL = 300

/** A zone on disk, ready to be served. */
export type ZoneFile = { readonly name: string; readonly server: Zone['server']; readonly file: string }

/** Writes and signs all zones (ldns), and the trust anchor of the root. About half a second. */
export async function writeZones(): Promise<readonly ZoneFile[]> {
  mkdirSync(FOLDER, { recursive: true })
  const all = zones()
  const keys = new Map<string, string>()
  await inTurns(
    all.filter((zone) => zone.signed),
    async (zone) => void keys.set(zone.name, await makeKey(zone.name)),
  )
  writeFileSync(`${STATE}/root.key`, readFileSync(`${FOLDER}/${keys.get('')}.ds`))
  const files: ZoneFile[] = []
  await inTurns(all, async (zone) => void files.push(await writeZone(zone, keys)))
  return files
}

/** Four at a time: the work is in processes of their own. */
async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(
    [1, 2, 3, 4].map(async () => {
      for (const item of left) await work(item)
    }),
  )
}

const makeKey = async (name: string): Promise<string> =>
  (await runTool('ldns-keygen', ['-a', 'ECDSAP256SHA256', '-k', '-r', '/dev/urandom', name || '.'], FOLDER)).trim()

async function writeZone(zone: Zone, keys: ReadonlyMap<string, string>): Promise<ZoneFile> {
  const file = `${FOLDER}/${zone.name || 'root'}.${zone.server}.zone`
  const lines = [`$ORIGIN ${zone.name}.`, `$TTL ${TTL}`, ...zone.lines.map(withTtl)]
  for (const child of zone.children) lines.push(...child.lines.map(withTtl), ...dsLines(child, keys))
  writeFileSync(file, `${[...new Set(lines)].join('\n')}\n`)
  if (!zone.signed) return { name: zone.name, server: zone.server, file }
  await runTool(
    'ldns-signzone',
    [...optionsOf(zone.signed), '-f', `${file}.signed`, file, keys.get(zone.name)!],
    FOLDER,
  )
  return { name: zone.name, server: zone.server, file: `${file}.signed` }
}

/** `name TYPE data` becomes `name TTL IN TYPE data`, the one order every reader of zones takes. */
const withTtl = (line: string): string => line.replace(/^(\S+) /, `$1 ${TTL} IN `)

/**
 * How ldns-signzone dates the signatures; from yesterday, so that a clock that is a little off does not break the
 * chain.
 */
function optionsOf(signed: Zone['signed']): readonly string[] {
  if (signed === 'expired') return ['-i', '20200101', '-e', '20200201']
  if (signed === 'expiring') return ['-i', day(-20), '-e', day(3)]
  return ['-i', day(-1), ...(signed === 'nsec3' ? ['-n', '-t', '10', '-s', 'abcd'] : [])]
}

/** The day so many days from now, as `20260131`. */
const day = (away: number): string =>
  new Date(Date.now() + away * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')

function dsLines(child: Delegation, keys: ReadonlyMap<string, string>): string[] {
  const key = keys.get(child.name)
  if (child.ds === 'none' || key === undefined) return []
  const line = readFileSync(`${FOLDER}/${key}.ds`, 'utf8').trim()
  return [child.ds === 'right' ? line : line.replace(/[0-9a-f](?=[0-9a-f]*$)/i, (digit) => (digit === '0' ? '1' : '0'))]
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A bound of the code: where its constant stands, its value as written, what its comment says, and a test at the bound and one step beyond. */
export type Bound = {
  readonly place: string
  readonly value: string
  readonly what: string
  readonly test: readonly [file: string, title: string] | undefined
}

const CONSTANT =
  /^(?:export )?const ((?:MAX|MOST|LONGEST|LARGEST)(?:_\w+)?|\w+_LIMIT|\w*KEPT\w*|\w+_AT_A_TIME|AT_A_TIME)\b[^=]*= ([^{[\n]*\d[^{[\n]*)$/
const TABLE = 'test/bounds.test.ts'

/** Tests of bounds that stand elsewhere than in the table of test/bounds.test.ts. */
const ELSEWHERE: Readonly<Record<string, readonly [file: string, title: string]>> = {
  'src/answers/bound-answer.ts MAX_ANSWER': ['src/answers/bound-answer.test.ts', 'one beyond'],
  'src/answers/bound-answer.ts MAX_TEXT': ['src/answers/bound-answer.test.ts', 'of 63 kB'],
  'src/checks/caa/lookup.ts MAX_NAMES': ['src/checks/caa/caa.test.ts', 'asks at most 8 names'],
  'src/checks/dmarc/reports.ts MAX_DESTINATIONS': ['src/checks/dmarc/dmarc.test.ts', 'asks at most 10 destinations'],
  'src/checks/dmarc/walk.ts MAX_RECORDS': ['src/checks/dmarc/dmarc.test.ts', 'is bounded on 500 records'],
  'src/checks/ns/ask.ts MAX_QUESTIONS': ['src/checks/ns/ns.test.ts', 'at most 13 servers, two questions each'],
  'src/checks/ns/lookup.ts MAX_SERVERS': ['src/checks/ns/ns.test.ts', 'at most 13 servers, two questions each'],
  'src/checks/soa/lookup.ts MAX_CANDIDATES': ['src/checks/soa/soa.test.ts', 'asks at most 4 names'],
  'src/checks/spf/evaluate.ts MAX_TRACE': ['src/checks/spf/check-host.test.ts', 'bounds questions and trace'],
  'src/checks/spf/passing/passing.ts MAX_INTERVALS': [
    'src/checks/spf/passing/passing.test.ts',
    'says so where the sets have too many intervals',
  ],
  'src/dnsbl/memory.ts MAX_ADDRESSES': ['src/dnsbl/memory.test.ts', 'remembers 2,000 addresses'],
  'src/http/loop-watch.ts MAX_HELD_MS': ['src/http/loop-watch.test.ts', 'at the bound'],
  'src/http/server.ts BODY_LIMIT': ['test/http/requests.test.ts', 'a body over 64 KiB'],
  'src/http/sessions.ts MAX_SESSIONS': ['src/http/sessions.test.ts', 'the longest unused goes when one more begins'],
  'src/monitors/stored/stored.ts MAX_STORED': ['test/http/stored.test.ts', 'keeps no more than so many of a key'],
  'src/net/dns/wire-name.ts MAX_OCTETS': ['src/net/dns/codec.test.ts', 'writes at most 255 octets'],
  'src/net/smtp/reply.ts MAX_LINE': ['src/net/smtp/reply.test.ts', 'keeps 512 bytes of a line and 100 lines'],
  'src/net/smtp/reply.ts MAX_LINES': ['src/net/smtp/reply.test.ts', 'keeps 512 bytes of a line and 100 lines'],
  'src/operations/context.ts MAX_CHECK_QUESTIONS': ['src/operations/context.test.ts', 'asks at most 120 questions'],
  'src/operations/expect.ts MAX_SETS': [
    'src/operations/expect.test.ts',
    'takes 1,000 names and types, and not one more',
  ],
  'src/operations/tried-fixes.ts MAX_TRIED': ['src/operations/tried-fixes.test.ts', 'at most 10 of them'],
  'src/pages/runs.ts MAX_RUNS': ['src/pages/runs.test.ts', 'refuses one more than may run'],
  'src/peers/peer.ts MAX_PEERS': ['src/peers/peers.test.ts', 'keeps at most its number of peers'],
  'src/store/contract.ts MAX_KEY': ['src/store/contract.test.ts', 'refuses the key'],
  'src/store/contract.ts MAX_VALUE': ['src/store/contract.test.ts', 'refuses a value over the bound'],
  'src/store/key-file.ts MAX_KEYS': ['src/store/key-file.test.ts', 'takes the most keys it may, and no more'],
  'src/store/postgres/idempotency-keys.ts MAX_KEYS': [
    'src/store/postgres/idempotency-keys.test.ts',
    'a caller has so many keys and no more',
  ],
}

/** Every bound that a constant of src/ names, by its place. Throws where {@link ELSEWHERE} names a constant or a test that is not there. */
export function boundsOf(root: string): readonly Bound[] {
  const table = readFileSync(join(root, TABLE), 'utf8')
  const bounds = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .flatMap((name) => inFile(root, `src/${name}`, table))
  for (const [place, [file, title]] of Object.entries(ELSEWHERE)) {
    if (!bounds.some((bound) => bound.place === place)) throw new Error(`there is no bound ${place}`)
    if (!readFileSync(join(root, file), 'utf8').includes(title)) throw new Error(`${file} has no test "${title}"`)
  }
  return bounds
}

function inFile(root: string, path: string, table: string): Bound[] {
  const lines = readFileSync(join(root, path), 'utf8').split('\n')
  return lines.flatMap((line, at) => {
    const [code = '', remark] = line.split(' // ')
    const [, name, value] = CONSTANT.exec(code) ?? []
    if (name === undefined || value === undefined) return []
    const place = `${path} ${name}`
    const comment = /^(?:\/\*\*| \*) (.*?)(?: \*\/)?$/.exec(lines[at - 1] ?? '')?.[1]
    const inTable = table.includes(`'${place}'`) ? ([TABLE, place] as const) : undefined
    return [{ place, value: value.trim(), what: comment ?? remark ?? '', test: ELSEWHERE[place] ?? inTable }]
  })
}

/** The table of docs/bounds.md. */
export function boundsTable(root: string): string {
  const bounds = boundsOf(root)
  const cell = (text: string): string => text.replaceAll('|', '\\|')
  const rows = bounds.map(({ place, value, what, test }) => {
    const [file, name] = place.split(' ')
    const shown = test ? `[${test[0].split('/').at(-1)}](../${test[0]})` : ''
    return `| [\`${name}\`](../${file}) | \`${cell(value)}\` | ${cell(what)} | ${file!.split('/').slice(1, -1).join('/')} | ${shown} |`
  })
  const tested = bounds.filter(({ test }) => test).length
  return [
    `${bounds.length} constants of the code, of which ${tested} have a test of their own that goes to the bound and one step beyond.`,
    '',
    '| constant | value | what | module | test |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A bound of the code: the place of its constant, its value as written, its comment, and the file of a test at the
 * bound and one step beyond, or why there is none.
 */
type Bound = {
  readonly place: string
  readonly value: string
  readonly what: string
  readonly test: string | undefined
  readonly untested: string | undefined
}

const CONSTANT =
  /^(?:export )?const ((?:MAX|MOST|LONGEST|LARGEST)(?:_\w+)?|\w+_LIMIT|\w*KEPT\w*|\w+_AT_A_TIME|AT_A_TIME)\b[^=]*= ([^{[\n]*\d[^{[\n]*)$/
/** The bounds that a test file names: in a row of test/bounds, or in a comment beside the test. */
const PLACE = /src\/[\w./-]+\.ts [A-Z][A-Z_0-9]+/g

/** Bounds without a test of their own, and the reason. */
const UNTESTED: Readonly<Record<string, string>> = {
  'src/jobs/engine/engine.ts MAX_ROWS': 'rows wait in the database until a claimed one has ended',
  'src/jobs/engine/engine.ts CLAIMS_AT_A_TIME': 'further claims come in the next turn',
  'src/jobs/engine/engine.ts MAX_UNWRITTEN': 'takes a thousand answers while the database is away',
  'src/mailbox/source/leases.ts MAX_KEYS': 'unused keys are dropped; 10,000 in use take as many connections',
  'src/net/post.ts MAX_BYTES': 'the body of the answer is not read: it may only end early',
  'src/net/socks/proxies.ts LONGEST_MS': "the caller's signal is shorter",
  'src/start/dns.ts MAX_QUESTIONS': 'takes 5,000 sockets; `limited` has its own test',
  'src/store/mmdb-files.ts MAX_BYTES': 'a file at the bound takes 1 GiB of memory; one beyond it is tested',
  'src/store/postgres/restore.ts MAX_LINE': 'a line at the bound takes 512 MiB of memory',
}

/**
 * Every bound that a constant of src/ names, by its place. Throws for a bound without a one-line comment, and if
 * {@link UNTESTED} or a test names a missing constant.
 */
function boundsOf(root: string): readonly Bound[] {
  const tests = testsOf(root)
  const bounds = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .flatMap((name) => inFile(root, `src/${name}`, tests))
  const known = new Set(bounds.map(({ place }) => place))
  const unknown = [...tests.keys(), ...Object.keys(UNTESTED)].find((place) => !known.has(place))
  if (unknown !== undefined) throw new Error(`there is no bound ${unknown}`)
  const mute = bounds.find(({ what }) => what === '')
  if (mute) throw new Error(`${mute.place} needs a comment of one line: contributing/bounds.md shows it`)
  return bounds
}

/** The first test file that names each place, by the place. */
function testsOf(root: string): ReadonlyMap<string, string> {
  const tests = new Map<string, string>()
  for (const folder of ['test', 'src'])
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      if (!name.endsWith('.test.ts')) continue
      for (const [place] of readFileSync(join(root, folder, name), 'utf8').matchAll(PLACE))
        if (!tests.has(place)) tests.set(place, `${folder}/${name}`)
    }
  return tests
}

function inFile(root: string, path: string, tests: ReadonlyMap<string, string>): Bound[] {
  const lines = readFileSync(join(root, path), 'utf8').split('\n')
  return lines.flatMap((line, at) => {
    const [code = '', remark] = line.split(' // ')
    const [, name, value] = CONSTANT.exec(code) ?? []
    if (name === undefined || value === undefined) return []
    const place = `${path} ${name}`
    const comment = commentAbove(lines, at)
    return [
      { place, value: value.trim(), what: comment ?? remark ?? '', test: tests.get(place), untested: UNTESTED[place] },
    ]
  })
}

/** The text of the doc comment that ends in the line before `at`; undefined if there is none. */
function commentAbove(lines: readonly string[], at: number): string | undefined {
  const one = /^(?:\/\*\*| \*) (.*?)(?: \*\/)?$/.exec(lines[at - 1] ?? '')?.[1]
  if (one !== undefined || lines[at - 1] !== ' */') return one
  const from = lines.lastIndexOf('/**', at)
  return lines
    .slice(from + 1, at - 1)
    .map((line) => line.replace(/^ \* ?/, ''))
    .join(' ')
}

/** The table of contributing/bounds.md. */
export function boundsTable(root: string): string {
  const bounds = boundsOf(root)
  const cell = (text: string): string => text.replaceAll('|', '\\|')
  const rows = bounds.map(({ place, value, what, test, untested }) => {
    const [file, name] = place.split(' ')
    const shown = test ? `[${test.split('/').at(-1)}](../${test})` : (untested ?? '')
    return `| [\`${name}\`](../${file}) | \`${cell(value)}\` | ${cell(what)} | ${file!.split('/').slice(1, -1).join('/')} | ${shown} |`
  })
  const tested = bounds.filter(({ test }) => test).length
  const reasons = bounds.filter(({ test, untested }) => !test && untested).length
  return [
    `${bounds.length} constants of the code. ${tested} have a test that goes to the bound and one step beyond; for ${reasons} the table says why there is none.`,
    '',
    '| constant | value | what | module | test |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

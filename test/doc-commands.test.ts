import { readdirSync, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { commandsOf } from '../src/cli/commands.ts'
import { examplesOf } from '../src/cli/help.ts'
import { operate } from '../src/cli/operate.ts'
import { runCommandLine } from '../src/cli/program.ts'
import { OPTIONS } from '../src/config-options.ts'
import { domain } from '../src/names/domain.ts'
import { FetchError } from '../src/net/fetch.ts'
import { DialError } from '../src/net/smtp/dial.ts'
import { allOperations } from '../src/operations/registry.ts'
import { labActions } from './lab/actions.ts'
import { labDeps, labExecutor } from './lab/app.ts'
import { labProblem } from './lab/problem.ts'
import { labWorld } from './lab/world.ts'

/**
 * Every command of README, documents and help is run by the command line, with its options and values, in a lab in which
 * nobody answers; the man page is made from the help. What reads files or the machine itself is only parsed.
 */
const operations = await allOperations()
const world = labWorld(
  {},
  {
    dial: () => Promise.reject(new DialError('connect_refused', labProblem('nobody is there'))),
    fetch: () => Promise.reject(new FetchError('connect', labProblem('nobody is there'))),
  },
)
const deps = labDeps(world)
deps.messages.inbox.open(domain('test.example.org'))
const execute = labExecutor(world, deps)
const waiting = await deps.messages.inbox.create({ id: '', isAdmin: true }, 600_000)
const configFlags = Object.entries(OPTIONS).map(([key, { flag, repeatable, meaning, argument }]) => ({
  ...{ key, flag, repeatable, meaning },
  ...(argument ? { argument } : {}),
}))

/** What stands for a value in the documents. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  DOMAIN: 'example.org',
  TARGET: 'example.org',
  EMAIL: 'joe@example.org',
  IP: '192.0.2.1',
  N: '80',
  SEVERITY: 'high',
  ID: 'mon_AAAAAAAAAAAAAAAAAAAAAA',
  JOB: 'job_AAAAAAAAAAAAAAAAAAAAAA',
}

/** The words of a command as a shell reads them, up to a pipe, a redirection, a comment or the next command. */
function wordsOf(command: string): readonly string[] {
  const words: string[] = []
  for (const [word] of command.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"'])+/g)) {
    if (/^(?:\||>|<|2>|&&|;|#|\))/.test(word)) break
    const bare = word.replaceAll(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, (_, double, single) => double ?? single)
    const isLast = /[;)]$/.test(word)
    words.push(PLACEHOLDERS[bare] ?? bare.replace(/[;)]$/, '').replace(/^msg_A+$/, waiting.id))
    if (isLast) break
  }
  return words
}

const COMMAND = /(?:^|[|(;&] *)(?:[A-Z_]+=\S+ )*(?:sudo )?(?:npx )?mailsonde ([a-z-]+(?: .*)?)$/

/** The commands in blocks of code, which are whole, and those in a sentence, which may be a name with some options. */
function commandsIn(text: string): { readonly whole: readonly string[]; readonly named: readonly string[] } {
  const commands = (lines: readonly string[]): readonly string[] =>
    lines.flatMap((line) => {
      const found = COMMAND.exec(line.trim().replace(/^\$ /, ''))?.[1]
      return found === undefined || /…|\.\.\./.test(found) ? [] : [found]
    })
  const blocks = [...text.matchAll(/^```(?:sh|bash|console|shell)?\n(.*?)^```$/gms)]
  const inline = [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g)]
  return {
    whole: commands(blocks.flatMap(([, code = '']) => code.replaceAll('\\\n', ' ').split('\n'))),
    named: commands(inline.map(([, code = '']) => code)),
  }
}

/** What was found is no error: an address is not deliverable, nothing is known. */
const FOUND: readonly number[] = [0, 1, 3]

const settingOf = (complain: (text: string) => void): Parameters<typeof operate>[1] => ({
  ...{ version: '0', onTerminal: false, service: undefined, tell: () => {}, complain },
  look: { width: 80, colour: false, unicode: true },
  open: async () => ({ execute, close: async () => {} }),
  write: async () => {},
  writeFile: () => {},
  readLines: async function* () {
    yield 'example.org'
  },
  openUpload: (_path, _stopped, what) => ({
    octets: Readable.from([
      Buffer.from(what === 'message' ? 'From: joe@example.org\r\n\r\n' : 'domain,email\nexample.org,joe@example.org\n'),
    ]),
    contentType: what === 'message' ? 'message/rfc822' : 'text/csv',
  }),
  find: async (name) => operations.find((one) => one.name === name),
})

async function run(words: readonly string[]) {
  const seen = { code: 0, printed: '', complaints: [] as string[] }
  const done = async (): Promise<number> => 0
  const complain = (text: string): void => void seen.complaints.push(text)
  seen.code = await runCommandLine(words, {
    ...{
      operations,
      configFlags,
      version: '0',
      readFile: (path: string) => (path.endsWith('.zone') ? '_dmarc.example.org. 300 IN TXT "v=DMARC1; p=none"\n' : ''),
      print: (text: string) => void (seen.printed += text),
    },
    complain,
    actions: labActions({
      ...{ serve: done, config: done, mcp: done, keys: done, list: done, db: done },
      operate: async ({ flags: _, ...asked }) => {
        // Nodes register before they are heard, and what repeats or waits does not end here.
        const isParsed = asked.uploads !== undefined || asked.operation.name.startsWith('peer-')
        const { watch: _watch, wait: _wait, ...view } = asked.view
        return isParsed ? 0 : operate({ ...asked, view }, settingOf(complain))
      },
    }),
  })
  return seen
}

const files = ['README.md', ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`)]
const found = files
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, ...commandsIn(readFileSync(name, 'utf8')) }))
const helped = operations
  .filter(({ partOf }) => partOf === undefined)
  .flatMap((one) => commandsOf(one).map(({ name }) => examplesOf(name, one)))
  .flatMap((examples) => examples.map(([line]) => ['help', line.replace(/^.*?mailsonde /, '')] as const))
const unique = (all: readonly (readonly [where: string, command: string])[]) => [
  ...new Map(all.map((one) => [one[1], one])).values(),
]
const whole = unique([...found.flatMap(({ name, whole: some }) => some.map((one) => [name, one] as const)), ...helped])
const named = unique(found.flatMap(({ name, named: some }) => some.map((one) => [name, one] as const)))

it('there are commands to read', () => expect([whole.length > 60, named.length > 20]).toEqual([true, true]))

it.each(whole)('%s: mailsonde %s', async (_, command) => {
  const { code, complaints } = await run(wordsOf(command))
  expect([FOUND.includes(code), complaints]).toEqual([true, []])
})

it.each(named)('%s, in a sentence: mailsonde %s', async (_, command) => {
  const words = wordsOf(command)
  const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
  const { code, printed } = await run([...(end < 0 ? words : words.slice(0, end)), '--help'])
  const options = words.filter((word) => word.startsWith('--') && word !== '--help').map((word) => word.split('=')[0]!)
  expect([code, options.filter((one) => !printed.includes(one))]).toEqual([0, []])
})

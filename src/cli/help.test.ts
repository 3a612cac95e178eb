import { expect, it } from 'vitest'
import { labActions } from '../../test/lab/actions.ts'
import { labProblem } from '../../test/lab/problem.ts'
import { AppError } from '../base/errors.ts'
import { OPTIONS } from '../config-options.ts'
import { commandOf } from '../operations/path.ts'
import { allOperations } from '../operations/registry.ts'
import { commandsOf } from './commands.ts'
import { COMMAND_GROUPS } from './help.ts'
import { buildProgram, runCommandLine } from './program.ts'

const operations = await allOperations()
const configFlags = Object.entries(OPTIONS).map(([key, { flag, repeatable, meaning, argument }]) => ({
  ...{ key, flag, repeatable, meaning },
  ...(argument ? { argument } : {}),
}))

/** Texts that were printed before: many tests look at the help of every command. */
const shown = new Map<string, Promise<string>>()
function help(words: readonly string[], columns = 80): Promise<string> {
  const key = [...words, columns].join(' ')
  const text = shown.get(key) ?? printedHelp(words, columns)
  shown.set(key, text)
  return text
}
async function printedHelp(words: readonly string[], columns: number): Promise<string> {
  let printed = ''
  const code = await runCommandLine([...words, '--help'], {
    ...{ operations, configFlags, columns, version: '0', readFile: () => '', complain: () => {} },
    actions: labActions(),
    print: (text) => void (printed += text),
  })
  expect(code).toBe(0)
  return printed
}

const commands = operations
  .filter(({ partOf }) => partOf === undefined)
  .flatMap((one) => commandsOf(one).map(({ name }) => commandOf(name).split(' ')))
/** Lines of a screen: 80 columns and a window of the usual height. */
const SCREEN = 52

it.each(commands)('%s %s: its own options first, on one screen, with two examples', async (...words) => {
  const text = await help(words.filter(Boolean))
  expect(text.split('\n').length).toBeLessThanOrEqual(SCREEN)
  expect(text.match(/^ {2}mailsonde .*(?:\\\n {4}.*)*(?:\n {6}| {2})# \S/gm)).toHaveLength(2)
  const at = (heading: string): number => text.indexOf(`\n${heading}`)
  expect(at('Output:')).toBeGreaterThan(0)
  expect(at('Query:')).toBeLessThan(at('Output:'))
  expect(at('Configuration')).toBeGreaterThan(at('Service:'))
})

it('lists every command once, in groups', async () => {
  const text = await help([])
  expect(text.split('\n').length).toBeLessThanOrEqual(64)
  const listed = [...text.matchAll(/^ {2}([a-z][\w-]*) /gm)].map(([, name]) => name)
  expect(listed).toEqual(Object.values(COMMAND_GROUPS).flat())
})

it.each(['verify', 'check', 'blacklist'])('%s: the options of a list are among its own', async (name) => {
  const text = await help([name])
  for (const flag of ['--file <LIST>', '--out <RESULTS>', '--column <COLUMN>', '--give-up-after <TIME>'])
    expect(text).toContain(`  ${flag}`)
})

it('shows the options of the service only for serve', async () => {
  const others = await Promise.all(commands.map((words) => help(words)))
  const serve = await help(['serve'])
  for (const flag of ['--port ', '--host ', '--cors-origin', '--insecure-no-auth', '--max-connections', '--join ']) {
    expect(serve).toContain(flag)
    expect(others.filter((text) => text.includes(`  ${flag}`) || text.includes(`, ${flag}`))).toEqual([])
  }
})

it.each([
  ['check', '--address-echo', 'verify'], // exit addresses are of sources
  ['spf', '--reports-rua', 'report'],
])('%s does not show %s, and %s does', async (other, flag, own) => {
  expect(await help([other])).not.toContain(flag)
  expect(await help([own])).toContain(flag)
})

it.each([20, 40, 60, 80, 400])('is folded to %i columns where words allow it', async (columns) => {
  const text = await help(['report'], columns)
  const lines = text.split('\n')
  const [folded] = text.replace(/^Usage:.*/, '').split('\nExamples:') // command lines stay whole
  const isLong = (line: string): boolean => line.length > columns && / \S+ /.test(line.trim())
  expect(folded!.split('\n').filter(isLong)).toEqual([])
  expect(lines.join(' ')).toContain('--format <FORMAT>')
})

it('src/cli/program.ts MAX_HELP: lines are at most 120 columns long, however wide the terminal is', async () => {
  for (const words of [[], ['check'], ['serve'], ['jobs', 'submit']])
    expect(Math.max(...(await help(words, 400)).split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
})

it.each<[words: string, heading: string, flag: string]>([
  ['monitors create', 'Query:', '--every'],
  ['monitors create', 'Messages:', '--notify'],
  ['jobs submit', 'Query:', '--expires-in'],
  ['jobs submit', 'Messages:', '--callback'],
  ['jobs list', 'Output:', '--limit'],
  ['verify', 'Network:', '--max-age'],
])('%s: %s has %s', async (words, heading, flag) => {
  const lines = (await help(words.split(' '))).split('\n')
  const at = lines.findIndex((line) => line.startsWith(`  ${flag} `))
  expect(lines.slice(0, at).findLast((line) => !line.startsWith(' '))).toBe(heading)
})

it.each<[words: string, fields: string]>([
  ['check', 'score,spf.record'],
  ['verify', 'email,result'],
  ['jobs list', 'data.id'],
])('%s: the example of --json names fields of its answer', async (words, fields) =>
  expect(await help(words.split(' '))).toContain(`as JSON: ${fields}\n`),
)

it.each(commands)('%s %s: examples fit on a line', async (...words) => {
  const [, examples = ''] = (await help(words.filter(Boolean))).split('\nExamples:\n')
  expect(examples.split('\n').filter((line) => line.replace(/ \\$/, '').length > 80)).toEqual([])
})

it('is ASCII: a terminal of any locale shows it', async () => {
  const all = await Promise.all([[], ['serve'], ['config'], ['keys'], ['db'], ...commands].map((words) => help(words)))
  expect(all.join('\n').match(/.*[^\n\x20-\x7e].*/g)).toBeNull()
})

it('a mailbox is passed on unchanged', async () => expect(await help(['verify'])).not.toContain('%2B'))

it.each<[words: string, code: 'invalid_domain' | 'invalid_ip', hint: string]>([
  ['check 192.0.2.1', 'invalid_domain', 'mailsonde blacklist 192.0.2.1'],
  ['dmarc joe@example.org', 'invalid_domain', 'mailsonde verify joe@example.org'],
  ['blacklist example.org', 'invalid_ip', 'mailsonde check example.org'],
  ['check -- a..b', 'invalid_domain', 'refused'],
])('%s: names the command for it', async (words, code, hint) => {
  const seen: string[] = []
  const operate = (): Promise<number> => Promise.reject(new AppError(code, labProblem('refused')))
  const setup = { operations, configFlags, version: '0', readFile: () => '', actions: labActions({ operate }) }
  await runCommandLine(words.split(' '), { ...setup, complain: (text) => seen.push(text) })
  expect(seen.at(-1)).toContain(hint)
})

it('an option has one meaning in each command', () => {
  const program = buildProgram(
    {
      ...{ operations, configFlags, version: '0', readFile: () => '', complain: () => {} },
      actions: labActions(),
    },
    async () => {},
  )
  for (const command of program.commands) {
    const names = command.options.map(({ long }) => long)
    expect(new Set(names).size).toBe(names.length)
  }
})

it.each<[words: readonly string[], hint: RegExp]>([
  [['example.org'], /to check a domain: mailsonde check example\.org/],
  [['joe@example.org'], /to verify an address: mailsonde verify joe@example\.org/],
  [['spf', 'example.org'], /to check a domain: mailsonde check example\.org/],
  [['192.0.2.1'], /to look up an address: mailsonde blacklist 192\.0\.2\.1/],
  [['chekc', 'example.org'], /Did you mean check\?/],
  [['check', 'example.org', '--fromat', 'json'], /Did you mean --format\?/],
  [['check', 'example.org', '--port', '81'], /--port is an option of `mailsonde serve`/],
  [['blacklist', '192.0.2.1', '--resolver', '192.0.2.53', '--port', '25'], /--port is an option of `mailsonde serve`/],
  [
    ['blacklist', '192.0.2.1', '--resolver', '192.0.2.53', '--nowhere'],
    /^error: unknown option '--nowhere'\n?\(see --help\)\n?$/,
  ],
  [['check', 'example.org', '--out', 'a.csv'], /--out requires --file/],
  [['check', '--file', 'a.csv'], /--file requires --out/],
  [['completion', 'fihs'], /"fihs" is not one of bash, zsh, fish \(did you mean fish\?\)/],
])('%j: a usage error that helps', async (words, hint) => {
  let complaint = ''
  const code = await runCommandLine(words, {
    ...{ operations, configFlags, version: '0', readFile: () => '' },
    complain: (text) => void (complaint += text),
    actions: labActions(),
  })
  expect(complaint).toMatch(hint)
  expect(code).toBe(2)
})

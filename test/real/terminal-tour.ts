import { mkdirSync, writeFileSync } from 'node:fs'
import { lookOf } from '../../src/cli/look.ts'
import { operate } from '../../src/cli/operate.ts'
import { type Actions, runCommandLine } from '../../src/cli/program.ts'
import { describeConfig, loadConfig } from '../../src/config.ts'
import { OPTIONS } from '../../src/config-options.ts'
import { configDocument } from '../../src/documents/service.ts'
import { formatTerminal, type Look } from '../../src/documents/terminal/terminal.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { version } from '../../src/own-files.ts'
import { labActions } from '../lab/actions.ts'
import { openBrowser } from './browser.ts'
import { startDatabase } from './database.ts'
import { throughLess } from './less.ts'
import { startProgram } from './program.ts'
import { makeShown } from './states.ts'
import { screenOf } from './terminal-screen.ts'

/**
 * `npm run tour:terminal -- FOLDER [WORD]`: what each command (whose line has the word) shows on a terminal, as text
 * and as pictures, on 80 and 200 columns, on white beside black; through less(1), plain and with -R; a few on 20 and
 * 400 columns, with 16 colours, without colours, and without UTF-8.
 */
const [folder = 'tour', word = ''] = process.argv.slice(2)

type View = { readonly line: string; readonly widths?: readonly number[]; readonly env?: NodeJS.ProcessEnv }
const TERMINAL = { TERM: 'xterm-256color', LANG: 'C.UTF-8' }
const ALL = [20, 80, 200, 400]
/** `mailsonde … | less`, and `FORCE_COLOR=1 mailsonde … | less -R`, which are told the width by COLUMNS. */
const LESS: readonly (readonly [options: readonly string[], env: NodeJS.ProcessEnv])[] = [
  [[], {}],
  [['-R'], { FORCE_COLOR: '1' }],
]
const LESS_WIDTHS = [80, 200]
/** Most pieces of one picture: enough for the longest view on 20 columns and both grounds. */
const MAX_PIECES = 40
const ZONE = '@ 3600 IN TXT "v=spf1 -all"\n_dmarc 3600 IN TXT "v=DMARC1; p=reject"\n'

mkdirSync(folder, { recursive: true })
const database = await startDatabase()
const program = await startProgram(['--database-url', database.url, '--pool', '198.51.100.51,198.51.100.52'])
const shown = await makeShown(program, database.url)
const { body } = await program.post('/v1/webhooks', { url: 'https://45.53.1.1/mailsonde' })
const { id: hook } = body as { id: string }

const VIEWS: readonly View[] = [
  { line: 'check neglected.test', widths: ALL },
  { line: 'check neglected.test ', widths: [80], env: { LC_ALL: 'C' } },
  { line: 'check neglected.test  ', widths: [80], env: { TERM: 'xterm' } },
  { line: 'check healthy.test', env: {} },
  { line: 'check healthy.test ', widths: [80], env: { NO_COLOR: '1' } },
  ...['manylookups', 'missing', 'servfail', 'parked'].map((name) => ({ line: `check ${name}.test` })),
  { line: 'check healthy.test neglected.test missing.test' },
  { line: 'check healthy.test neglected.test --quiet' },
  { line: "check neglected.test --with '@ TXT v=spf1 -all'" },
  { line: 'check neglected.test --expect zone.txt' },
  { line: 'check neglected.test --format nagios' },
  { line: 'check neglected.test --format github' },
  { line: 'check neglected.test --json score,spf.record' },
  { line: 'report listed.test' },
  { line: 'verify user@accept.test --trace', widths: ALL },
  { line: 'verify nobody@accept.test' },
  { line: 'verify user@grey.test' },
  { line: 'verify user@rcpt.test --pool --trace', widths: ALL },
  { line: 'verify joe@@x' },
  { line: 'blacklist 45.53.9.9', widths: ALL },
  { line: 'blacklist 45.53.1.1' },
  { line: 'api blacklist-bulk 45.53.9.9 45.53.1.1' },
  { line: 'blacklists', widths: ALL },
  { line: 'spf --ip 198.51.100.9 --sender joe@manylookups.test' },
  { line: 'dkim neglected.test --selector default' },
  { line: 'dmarc neglected.test' },
  { line: 'geo 193.0.6.139' },
  { line: 'pool', widths: ALL },
  ...['peers', 'doctor', 'api ready', 'api health', 'api probe --target healthy.test'].map((line) => ({ line })),
  { line: 'jobs list', widths: ALL },
  { line: `jobs show ${shown.job}` },
  { line: `jobs show ${shown.running}` },
  { line: `jobs results ${shown.job} --limit 5` },
  { line: `jobs bad-rows ${shown.job}` },
  { line: 'monitors list', widths: ALL },
  { line: `monitors show ${shown.monitor}` },
  { line: `monitors history ${shown.monitor}` },
  { line: `monitors changes ${shown.monitor}` },
  { line: 'webhooks list' },
  { line: `webhooks deliveries ${hook}` },
  { line: `saved show ${shown.stored}` },
  { line: `saved show ${shown.storedAddress}` },
  { line: 'history --domain neglected.test' },
  { line: 'config', widths: ALL },
  { line: '--help', widths: ALL },
  { line: 'check --help', widths: ALL },
  ...['verify', 'report', 'blacklist', 'jobs', 'jobs submit', 'monitors create', 'serve', 'keys', 'completion'].map(
    (name) => ({ line: `${name} --help` }),
  ),
  ...['check', 'check 192.0.2.1', 'check a.example --selektor x', 'chekc a.example', 'jobs sbmit x'].map((line) => ({
    line,
  })),
  { line: 'jobs show no-such-job' },
  { line: 'check a.example --format tabel' },
]

const operations = await allOperations()
const browser = await openBrowser()
for (const [i, view] of VIEWS.entries()) {
  if (!view.line.includes(word)) continue
  for (const width of view.widths ?? [80, 200]) {
    const name = `${String(i).padStart(2, '0')}-${view.line.trim().replaceAll(/\W+/g, '-').slice(0, 40)}-${width}`
    const output = await outputOf(view, lookOf({ isTTY: true, columns: width }, { ...TERMINAL, ...view.env }))
    writeFileSync(`${folder}/${name}.txt`, textOf(output))
    await takePictures(`$ mailsonde ${view.line}\n${output}`, width, `${folder}/${name}`)
    if (view.env !== undefined || !LESS_WIDTHS.includes(width)) continue
    for (const [options, env] of LESS) {
      const piped = await outputOf(view, lookOf({}, { ...TERMINAL, ...env, COLUMNS: String(width) }))
      const seen = throughLess(piped, width, options)
      await takePictures(seen, width, `${folder}/${name}-less${options.join('')}`)
      if (!sameText(seen, piped)) console.error(`${name}: less ${options.join(' ')} shows something else`)
    }
  }
}
await browser.close()
await program.stop()
await database.stop()

/** Text without colours. */
function textOf(output: string): string {
  return output.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '')
}

/** Whether less shows the text as it is, whatever it folds; its last line is its own. */
function sameText(seen: string, text: string): boolean {
  const letters = (one: string): string => textOf(one).replaceAll(/\s/g, '')
  return letters(seen).startsWith(letters(text))
}

/** What a command writes where the output looks so, its errors too. */
async function outputOf({ line }: View, look: Look): Promise<string> {
  let output = ''
  const print = (text: string): void => void (output += text)
  const actions: Actions = labActions({
    operate: (asked) =>
      operate(asked, {
        ...{ version, look, onTerminal: true, showsSpinner: false, open: () => Promise.reject(new Error('unused')) },
        service: {
          server: program.url,
          key: undefined,
          peerSecret: undefined,
          nodeId: undefined,
          now: () => Date.now(),
        },
        tell: () => {},
        complain: (text) => print(`${text}\n`),
        write: async (text) => print(text),
        writeFile: () => {},
        readLines: () => [] as unknown as AsyncIterable<string>,
        openUpload: () => Promise.reject(new Error('unused')) as never,
        find: async (name) => operations.find((one) => one.name === name),
      }),
    config: async () => {
      print(`${formatTerminal(configDocument(describeConfig(loadConfig({}, {})), version), look)}\n`)
      return 0
    },
  })
  const configFlags = Object.entries(OPTIONS).map(([key, { flag, repeatable, meaning, argument }]) => ({
    ...{ key, flag, repeatable, meaning },
    ...(argument ? { argument } : {}),
  }))
  const argv = (line.match(/'[^']*'|\S+/g) ?? []).map((one) => one.replaceAll("'", ''))
  const complain = (text: string): void => print(`${text}\n`)
  const setup = {
    operations,
    configFlags,
    version,
    actions,
    complain,
    columns: look.width,
    print,
    readFile: () => ZONE,
  }
  const status = await runCommandLine(argv, setup)
  return `${output}[exit status ${status}]`
}

/** A picture of the whole, in pieces that can be looked at. */
async function takePictures(text: string, columns: number, file: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 100, height: 100 } })
  await page.setContent(screenOf(text, columns))
  const box = await page.locator('body').boundingBox()
  const { width = 0, height = 0 } = box ?? {}
  const piece = 1_400
  for (let y = 0, n = 1; y < height && n <= MAX_PIECES; y += piece, n++) {
    const clip = { x: 0, y, width, height: Math.min(piece, height - y) }
    await page.screenshot({ path: `${file}${n === 1 ? '' : `-${n}`}.png`, fullPage: true, clip })
  }
  await page.close()
}

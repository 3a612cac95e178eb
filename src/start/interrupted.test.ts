import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'

/** A resolver that hears questions and never answers. */
const silent = createSocket('udp4')
let heard: () => void = () => {}
beforeAll(
  () =>
    new Promise<void>((resolve) => {
      silent.on('message', () => heard())
      silent.bind(0, '127.0.0.1', resolve)
    }),
)
afterAll(() => void silent.close())

type Ended = {
  readonly code: number | null
  readonly signal: string | null
  readonly output: string
  readonly errors: string
}
/** Runs a command with the silent resolver; `act` is called once it asks. */
async function run(
  words: readonly string[],
  act: (child: ReturnType<typeof spawn>) => void,
): Promise<Ended & { readonly left: readonly string[] }> {
  const folder = labFolder()
  const flags = ['--data-dir', `${folder}/data`, '--resolver', `127.0.0.1:${silent.address().port}`]
  const child = spawn(process.execPath, ['src/main.js', ...words, ...flags], { env: {} })
  const said = { output: '', errors: '' }
  child.stdout.on('data', (chunk) => (said.output += chunk))
  child.stderr.on('data', (chunk) => (said.errors += chunk))
  heard = () => {
    heard = () => {}
    act(child)
  }
  const ended = await new Promise<Pick<Ended, 'code' | 'signal'>>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  )
  // The id of the node is made once and kept.
  const left = existsSync(`${folder}/data`) ? readdirSync(`${folder}/data`).filter((name) => name !== 'node.json') : []
  return { ...ended, ...said, left }
}

it.each<[signal: 'SIGINT' | 'SIGTERM', words: readonly string[], code: number]>([
  ['SIGINT', ['check', 'a.example'], 130],
  ['SIGINT', ['verify', 'joe@a.example', 'bob@b.example'], 130],
  ['SIGINT', ['dmarc', 'a.example', '--watch', '1h'], 130],
  ['SIGINT', ['check', 'a.example', '-'], 130], // standard input stays open
  ['SIGTERM', ['check', 'a.example'], 143],
])('%s ends %j in silence, with nothing left behind', async (signal, words, code) => {
  const ended = await run(words, (child) => child.kill(signal))
  expect(ended).toEqual({ code, signal: null, output: '', errors: '', left: [] })
})

it('SIGINT ends an upload whose standard input stays open', async () => {
  const service = createServer().on('connection', () => heard())
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  const at = service.address()
  const url = `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}`
  const ended = await run(['jobs', 'submit', '-', '--server', url], (child) => child.kill('SIGINT'))
  service.closeAllConnections()
  service.close()
  expect(ended).toEqual({ code: 130, signal: null, output: '', errors: '', left: [] })
})

it('ends in silence, as SIGPIPE would end it, when nobody reads any more', async () => {
  const folder = labFolder()
  const child = spawn(process.execPath, ['src/main.js', 'api', 'health', '--watch', '1s', '--data-dir', folder], {
    env: {},
  })
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  child.stdout.once('data', () => child.stdout.destroy())
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect([code, errors]).toEqual([141, ''])
})

import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, it, vi } from 'vitest'
import { commandLine } from './command-line.ts'
import { ownSocket } from './data-folder.ts'

afterEach(() => vi.restoreAllMocks())

it.each([
  ['what is stored', ['jobs', 'list'], ['GET /v1/jobs']],
  ['anything else', ['blacklist', '10.0.0.1'], []],
])(
  'asks the service that holds the data folder for %s',
  async (_, argv, expected) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'mailsonde-'))
    const asked: string[] = []
    const service = createServer(({ method, url }, response) => {
      asked.push(`${method} ${url}`)
      response.end('{"data":[],"has_more":false,"next_cursor":null}')
    })
    await new Promise<void>((resolve) => service.listen(ownSocket(dataDir), resolve))
    const flags = ['--data-dir', dataDir, '--resolver', '127.0.0.1:9']
    await promisify(execFile)(process.execPath, ['src/main.js', ...argv, ...flags], { env: {} }).catch(() => {})
    expect(asked).toEqual(expected)
    await new Promise((resolve) => service.close(resolve))
  },
  30_000,
)

it.each<[string, readonly string[]]>([
  ['a value', ['check', 'a\u202eb\u009bc\u200bd']],
  ['a flag that is not known', ['check', 'a.example', '--x\u202e\u009b31m']],
  ['a command that is not known', ['\u061cche\u{e0041}ck']],
  ['a choice', ['check', 'a.example', '--format', 'j\u009b\u202e']],
  ['an option of the configuration', ['config', '--port', '8\ufeff\u009b']],
])('writes no character that steers a terminal: %s', async (_, argv) => {
  let written = ''
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((written += String(text))))
  expect(await commandLine(argv)).toBe(2)
  expect(written).not.toBe('')
  expect(written.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]|[\u{e0000}-\u{e0fff}]/u)
})

it('says why the database could not be opened, without its password', async () => {
  const url = 'postgres://x:secret@127.0.0.1:1/x'
  const argv = ['src/main.js', 'monitors', 'list', '--data-dir', tmpdir(), '--database-url', url]
  const ran = promisify(execFile)(process.execPath, argv, { env: {} })
  const { stderr } = await ran.catch((error: { stderr: string }) => error)
  expect(stderr).toMatch(/could not be opened[\s\S]*ECONNREFUSED|ECONNREFUSED[\s\S]*could not be opened/)
  expect(stderr).not.toContain('secret')
}, 30_000)

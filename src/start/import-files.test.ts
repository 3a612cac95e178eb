import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { labDatabase, labDatabaseUrl } from '../../test/lab/database.ts'
import { labFolder } from '../../test/lab/folder.ts'
import { aggregateReport } from '../../test/lab/report-xml.ts'
import { configOf } from '../config.ts'
import { importExample } from '../operations/reports/examples.ts'
import type { Database } from '../store/postgres/connect.ts'
import { importFiles, messagesOf } from './import-files.ts'

/** `reports import` with files; src/mail-in/killed.test.ts and test/real have the pipe. */
let folder: string
let url: string
let database: Database
beforeAll(async () => {
  folder = labFolder()
  url = await labDatabaseUrl()
  database = await labDatabase(url)
  mkdirSync(`${folder}/empty`)
  mkdirSync(`${folder}/mixed/below`, { recursive: true })
  for (const name of ['cur', 'new', 'tmp']) mkdirSync(`${folder}/maildir/${name}`, { recursive: true })
  writeFileSync(`${folder}/one.xml`, xml('one'))
  writeFileSync(`${folder}/mixed/a.gz`, gzipSync(xml('a')))
  writeFileSync(`${folder}/mixed/below/b.xml`, xml('b'))
  writeFileSync(`${folder}/mixed/notes.txt`, 'not a report')
  writeFileSync(`${folder}/maildir/cur/1`, mail('c'))
  writeFileSync(`${folder}/maildir/new/2`, mail('d'))
  writeFileSync(`${folder}/maildir/tmp/3`, mail('not delivered'))
  writeFileSync(
    `${folder}/mbox`,
    `From a@b Mon\n${mail('e')}\n\nFrom a@b Mon\n${mail('f')}\n\nFrom a@b Mon\nFrom: x@x\n\nhello\n`,
  )
  writeFileSync(`${folder}/cut.xml`, xml('g').slice(0, -100))
  writeFileSync(`${folder}/last.xml`, xml('last'))
  mkdirSync(`${folder}/links`)
  symlinkSync(`${folder}/one.xml`, `${folder}/links/file`)
  symlinkSync(`${folder}/mixed`, `${folder}/links/folder`)
  const from = 'From a@b Mon\n'
  writeFileSync(
    `${folder}/large.mbox`,
    `${from}${mail('l1')}\n${from}Subject: x\n\n${'\n'.repeat(26 * 1_048_576)}\n${from}${mail('l2')}\n`,
  )
  writeFileSync(`${folder}/nothing`, '')
  writeFileSync(`${folder}/closed`, xml('h'))
  chmodSync(`${folder}/closed`, 0)
})
const xml = (id: string): string =>
  aggregateReport({
    ...{ id, domain: 'files.example', begin: Math.floor(Date.now() / 1_000) - 100_000 },
    rows: [{ address: '192.0.2.1', count: 3 }],
  })
const mail = (id: string): string => `From: a@b.example\nContent-Type: text/xml\n\n${xml(id)}\n`

async function run(paths: readonly string[], databaseUrl = url, server?: string) {
  const said = { printed: '', complained: '' }
  const note =
    (to: keyof typeof said) =>
    (text: string): void => {
      said[to] += `${text}\n`
    }
  const config = configOf({ databaseUrl, dataDir: `${folder}/data`, resolver: '127.0.0.1:9' })
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const service =
    server === undefined ? undefined : { server, key: 'k', peerSecret: undefined, nodeId: undefined, now: Date.now }
  const setup = { log, version: '0', service, print: note('printed'), complain: note('complained') }
  const status = await importFiles(
    paths.map((path) => `${folder}/${path}`),
    config,
    { ...setup, look: { color: false, unicode: true, width: 100 } as never },
  )
  return { status, ...said }
}
async function stored(): Promise<readonly string[]> {
  const { rows } = await database.pool.query('SELECT report_id FROM mailsonde.reports ORDER BY report_id')
  return rows.map(({ report_id }) => report_id)
}

describe('reports import', () => {
  it.each<[string, readonly string[], number, readonly string[], RegExp]>([
    ['a file', ['one.xml'], 0, ['one'], /files\.example/],
    ['the same file again', ['one.xml'], 0, ['one'], /duplicate|already/i],
    ['a folder, with a file that is no report', ['mixed'], 0, ['a', 'b', 'one'], /files\.example/],
    ['a Maildir, without what is not delivered', ['maildir'], 0, ['a', 'b', 'c', 'd', 'one'], /files\.example/],
    ['an mbox', ['mbox'], 0, ['a', 'b', 'c', 'd', 'e', 'f', 'one'], /files\.example/],
    ['a truncated report beside a good one', ['cut.xml', 'one.xml'], 1, ['a', 'b', 'c', 'd', 'e', 'f', 'one'], /cut/],
  ])('%s', async (_, paths, status, ids, shown) => {
    const done = await run(paths)
    expect([done.status, done.complained]).toEqual([status, ''])
    expect(done.printed).toMatch(shown)
    expect(await stored()).toEqual(ids)
  })
  it.each<[string, readonly string[], RegExp]>([
    ['an empty folder', ['empty'], /there is no report in \S+empty$/m],
    ['an empty file', ['nothing'], /there is no report in \S+nothing$/m],
    ['files that are no reports', ['mixed/notes.txt', 'nothing'], /there is no report in \S+notes\.txt, \S+nothing$/m],
    ['a file that does not exist', ['gone.xml'], /no such file/],
  ])('%s is exit status 2 in words', async (_, paths, words) => {
    const done = await run(paths)
    expect([done.status, done.printed]).toEqual([2, ''])
    expect(done.complained).toMatch(words)
  })
  it('a file that does not exist does not stop the next ones, and is exit status 2', async () => {
    const done = await run(['gone.xml', 'last.xml'])
    expect([done.status, done.printed]).toEqual([2, expect.stringMatching(/files\.example/)])
    expect(done.complained).toMatch(/gone\.xml: .*no such file/)
    expect(await stored()).toContain('last')
  })
  it('a link in a folder is not followed, one that is named is', async () => {
    expect((await run(['links'])).status).toBe(2)
    expect((await run(['links/file'])).status).toBe(0)
    expect((await run(['links/folder'])).status).toBe(0)
  })
  it('a message of an mbox that is too large is refused by its number, and the next ones are read', async () => {
    const done = await run(['large.mbox'])
    expect([done.status, done.complained]).toEqual([1, ''])
    expect(done.printed).toMatch(/2 reports/)
    expect(done.printed).toMatch(/1 refused/)
    expect(done.printed).toMatch(/large\.mbox#2\s+the input has more than 26214400 octets/)
  })
  it('each file and each message of an mbox is sent to the service of --server', async () => {
    const bodies: string[] = []
    const server = createServer(async (request, response) => {
      const body = await text(request)
      bodies.push(
        `${request.method} ${request.url} ${request.headers.authorization} ${/<report_id>(.*?)</.exec(body)?.[1]}`,
      )
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(importExample))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const done = await run(['one.xml', 'mbox'], url, `http://127.0.0.1:${port}`)
    server.close()
    expect([done.status, done.complained]).toEqual([0, ''])
    expect(bodies).toEqual(['one', 'e', 'f', undefined].map((id) => `POST /v1/reports Bearer k ${id}`))
  })
  it('a database that is away is exit status 75', async () => {
    const done = await run(['one.xml'], 'postgres://a:b@127.0.0.1:9/c')
    expect([done.status, done.printed]).toEqual([75, ''])
    expect(done.complained).toMatch(/database/)
  })
})

describe('messages of an mbox', () => {
  async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
    for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size))
  }
  const MBOX =
    'From a@b Mon\nA: 1\n\n>From here\n\nFrom a@b Tue\r\nA: 2\r\n\r\nx\r\n\r\nFrom a\n\n\nFrom b\nA: 4\n\nFrom'
  it.each([1, 2, 3, 5, 7, 8, 9, 20, 1_000])('in pieces of %i octets', async (size) => {
    const found: string[] = []
    for await (const { octets } of messagesOf('m', inPieces(MBOX, size), 1_000)) found.push(`${octets}`)
    expect(found).toEqual(['A: 1\n\nFrom here\n\n', 'A: 2\r\n\r\nx\r\n\r\n', '\n\n', 'A: 4\n\nFrom'])
  })
  it('of 24 MiB of empty lines are one, made of as many pieces as were read', async () => {
    async function* empty(): AsyncGenerator<Buffer> {
      yield Buffer.from('From a\n')
      for (let n = 0; n < 24; n++) yield Buffer.alloc(1_048_576, '\n')
    }
    const sizes: number[] = []
    for await (const { octets } of messagesOf('m', empty(), 25 * 1_048_576)) sizes.push((octets as Buffer).length)
    expect(sizes).toEqual([24 * 1_048_576])
  })
})

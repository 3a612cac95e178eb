import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { labDatabase, labDatabaseUrl } from '../../test/lab/database.ts'
import { labFolder } from '../../test/lab/folder.ts'
import { aggregateReport } from '../../test/lab/report-xml.ts'
import { configOf } from '../config.ts'
import type { Database } from '../store/postgres/connect.ts'
import { importFiles } from './import-files.ts'

/** `reports import` with files; src/intake/killed.test.ts and test/real have the pipe. */
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

async function run(paths: readonly string[], databaseUrl = url) {
  const said = { printed: '', complained: '' }
  const note =
    (to: keyof typeof said) =>
    (text: string): void => {
      said[to] += `${text}\n`
    }
  const config = configOf({ databaseUrl, dataDir: `${folder}/data`, resolver: '127.0.0.1:9' })
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const setup = { log, version: '0', service: undefined, print: note('printed'), complain: note('complained') }
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
  it('a database that is away is exit status 75', async () => {
    const done = await run(['one.xml'], 'postgres://a:b@127.0.0.1:9/c')
    expect([done.status, done.printed]).toEqual([75, ''])
    expect(done.complained).toMatch(/database/)
  })
})

import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type JobAnswer, jobAnswer } from '../../src/answers/jobs.ts'
import { sleep } from '../../src/base/deadline.ts'
import type { Ask } from '../../src/jobs/engine/claims.ts'
import type { JobService } from '../../src/jobs/service.ts'
import { labApp, labDeps, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { jobsOver } from '../lab/jobs.ts'
import { labWorld } from '../lab/world.ts'

/** Downloads that read the database page by page: here each page has two rows. */
let jobs: JobService
let app: FastifyInstance
let url: string
/** Rows of a page: two of a download. */
let pageRows = 2
/** Called before each page after the first. */
let betweenPages = async (): Promise<unknown> => undefined

/** What mail servers and suggestions may hold, by local part. */
const MESSAGES: Readonly<Record<string, string>> = {
  plain: '2.1.5 Ok',
  quoted: '5.1.1 "no", he said',
  controls: 'a\u001fb\u001ec\\u001e',
  wide: 'Ünknown 用户 🙂',
}
const ask: Ask = async (_kind, input) => ({
  result: 'rejected',
  reason: 'mailbox_not_found',
  answer: { email: input, message: MESSAGES[input.split('@')[0]!] ?? '' },
})

beforeAll(async () => {
  const database = await labDatabase()
  const whole = jobsOver(async () => database, { ask })
  jobs = {
    ...whole,
    results: async (id, page, owner) => {
      if (page.after > 0) await betweenPages()
      return whole.results(id, { ...page, limit: Math.min(page.limit, pageRows) }, owner)
    },
  }
  const world = labWorld()
  app = await labApp(world, { deps: labDeps(world, { jobs }), keys: () => [labKey('mine', ['jobs'])] })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await app.close()
  await jobs.stop()
})

const headers = { authorization: 'Bearer mine' }
async function done(list: string, contentType = 'text/csv'): Promise<string> {
  const sent = { ...headers, 'content-type': contentType }
  const response = await fetch(`${url}/v1/jobs`, { method: 'POST', headers: sent, body: list })
  const { id }: JobAnswer = jobAnswer.parse(await response.json())
  for (const limit = AbortSignal.timeout(15_000); ; await sleep(50, limit)) {
    const job = jobAnswer.parse(await (await fetch(`${url}/v1/jobs/${id}`, { headers })).json())
    if (job.state === 'done') return id
  }
}
const download = async (id: string, query: string): Promise<string> =>
  (await fetch(`${url}/v1/jobs/${id}/results?${query}`, { headers })).text()

const LIST = `note,email\n${Object.keys(MESSAGES)
  .map((name) => `=${name},${name}@a.example\n`)
  .join('')}again,quoted@a.example\n`

describe('a download of several pages', () => {
  it.each([
    ['ndjson', '', [2, 3, 4, 5, 6]],
    ['ndjson', '&cursor=4', [5, 6]],
    ['ndjson', '&limit=3', [2, 3, 4]],
    ['ndjson', '&result=rejected&cursor=5', [6]],
    ['ndjson', '&result=accepted', []],
    ['csv', '', [2, 3, 4, 5, 6]],
    ['csv', '&cursor=3&limit=2', [4, 5]],
  ])('as %s%s has the rows %j, as the list of JSON has them', async (format, query, lines) => {
    betweenPages = async () => undefined
    const id = await done(LIST)
    pageRows = 200
    const { data } = JSON.parse(await download(id, 'format=json&limit=200'))
    pageRows = 2
    const wanted = lines.map((line) => data.find((row: { readonly line: number }) => row.line === line))
    const text = await download(id, `format=${format}${query}`)
    if (format === 'ndjson')
      expect(
        text
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
      ).toEqual(wanted)
    else
      expect(text.split('\r\n').filter((line) => !line.startsWith('note,') && line !== '')).toEqual(
        wanted.map(({ columns: { note, email }, line, answer: { message } }) => {
          const shown = message.replaceAll(/[\u001e\u001f]/g, '\uFFFD')
          const cell = /[",]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown
          return `${note},${email},${line},rejected,mailbox_not_found,,,,${cell},,,,,,,,,`
        }),
      )
  })

  it.each([
    ['', [2, 3, 11, 12, 13]],
    ['&limit=4', [2, 3, 11, 12]],
    ['&limit=5', [2, 3, 11, 12, 13]],
    ['&cursor=5', [11, 12, 13]],
    ['&reason=bad_syntax', []],
  ])('goes on after pages of lines that have no row (%s)', async (query, lines) => {
    const id = await done(
      `note,email\n${['a,a', 'b,b', ...Array(7).fill('bad'), 'c,c', 'd,d', 'e,e'].map((row) => (row === 'bad' ? row : `${row}@a.example`)).join('\n')}`,
    )
    const rows = (await download(id, `format=ndjson${query}`)).split('\n').slice(0, -1)
    expect(rows.map((row) => JSON.parse(row).line)).toEqual(lines)
  })

  it.each(['ndjson', 'csv'])('as %s breaks off when the job is removed meanwhile', async (format) => {
    const id = await done(LIST)
    let pages = 0
    betweenPages = async () => {
      if (++pages === 2) await fetch(`${url}/v1/jobs/${id}`, { method: 'DELETE', headers })
    }
    await expect(download(id, `format=${format}`)).rejects.toThrow()
  })
})

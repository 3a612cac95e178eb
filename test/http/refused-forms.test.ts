import { expect, it } from 'vitest'
import { AppError } from '../../src/base/errors.ts'
import { allOperations } from '../../src/operations/registry.ts'
import type { ReportService } from '../../src/reports/service.ts'
import { openSite } from '../../src/start/pages.ts'
import { labApp, labDeps, labExecutor } from '../lab/app.ts'
import { labProblem } from '../lab/problem.ts'
import { labReports } from '../lab/reports.ts'
import { labWorld } from '../lab/world.ts'

/**
 * Every form that can be refused: the sentence stands beside its field, the field refers to it, and what was typed is
 * still there.
 */
const world = labWorld({ 'a.example': { A: ['45.53.1.1'] } })
const operations = await allOperations()
const service: ReportService = {
  ...labReports,
  import: async (octets) => {
    for await (const _ of octets);
    throw new AppError('bad_report', labProblem('it is no report'))
  },
}
const app = await labApp(world, {
  site: openSite({
    operations,
    world,
    version: '0.0.0',
    execute: labExecutor(world, labDeps(world, { reports: async () => service })),
  }),
})
const HTML = { accept: 'text/html', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' }
const first = await app.inject({ url: '/monitors', headers: HTML })
const token = /name="_csrf" value="([^"]+)"/.exec(first.body)![1]!
const cookie = String(first.headers['set-cookie']).split(';')[0]!

type Fields = Readonly<Record<string, string | File>>
async function sent(path: string, fields: Fields, isMultipart: boolean) {
  const post = { method: 'POST', headers: { ...HTML, cookie } } as const
  if (!isMultipart) {
    const payload = new URLSearchParams({ _csrf: token, ...(fields as Record<string, string>) }).toString()
    return app.inject({
      ...{ ...post, url: path, payload },
      headers: { ...post.headers, 'content-type': 'application/x-www-form-urlencoded' },
    })
  }
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const body = new Response(form)
  const headers = { ...post.headers, 'content-type': body.headers.get('content-type')! }
  const payload = Buffer.from(await body.arrayBuffer())
  return app.inject({ ...post, url: `${path}?_csrf=${token}`, headers, payload })
}

const QUIET = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' }
const MONITOR = { target: 'a.example', name: 'mine "<b>' }
const RECORD = { name: '_dmarc', type: 'TXT', value: 'v=DMARC1; p=none' }
const NONE = new File([], 'a.eml')
it.each<[path: string, field: string, fields: Fields, words: string, isMultipart?: true]>([
  ['/monitors', 'target', { ...MONITOR, target: 'not a domain' }, 'Not saved'],
  ['/monitors', 'every', { ...MONITOR, every: '1s' }, 'Not saved'],
  ['/monitors', 'name', { ...MONITOR, name: 'x'.repeat(201) }, 'Not saved'],
  ['/monitors', 'selector', { ...MONITOR, selector: 'a b' }, 'Not saved'],
  ['/monitors', 'score_below', { ...MONITOR, changed: 'true', score_below: '101' }, 'Not saved'],
  [
    '/monitors',
    'failing_above',
    { ...MONITOR, kind: 'reports', new_sender: 'true', failing_above: '101' },
    'Not saved',
  ],
  ['/monitors', 'from', { ...MONITOR, ...QUIET, from: '25:00' }, 'Not saved'],
  ['/monitors', 'to', { ...MONITOR, ...QUIET, to: 'noon' }, 'Not saved'],
  ['/monitors', 'timezone', { ...MONITOR, ...QUIET, timezone: 'Nowhere' }, 'Not saved'],
  ['/monitors', 'webhook', { ...MONITOR, webhook: 'https://10.0.0.1/' }, 'Not saved'],
  ['/monitors', 'mail', { ...MONITOR, mail: 'nobody' }, 'Not saved'],
  ['/domain/a.example/try', 'name', { ...RECORD, name: 'not a name' }, 'Not tried'],
  ['/domain/a.example/try', 'type', { ...RECORD, type: 'SPF' }, 'Not tried'],
  ['/domain/a.example/try', 'value', { ...RECORD, type: 'MX', value: 'mail' }, 'Not tried'],
  ['/domain/a.example/try', 'value', { ...RECORD, type: 'MX', value: '10 not(a(name' }, 'Not tried'],
  ['/jobs/preview', 'text', { text: ' \n ', kind: 'auto' }, 'Not read'],
  ['/jobs/preview', 'text', { text: 'mail,name\n"a@b.example,x\n', kind: 'verify' }, 'Not read'],
  ['/jobs', 'text', { text: ' ', kind: 'verify' }, 'Not read'],
  ['/jobs/upload', 'file', { file: new File([''], 'a.csv'), kind: 'auto' }, 'Not read', true],
  ['/message', 'file', { file: NONE, text: '' }, 'Not analysed', true],
  ['/message', 'ip', { file: NONE, text: 'From: a@a.example\n\nx', ip: 'here' }, 'Not analysed', true],
  ['/message', 'helo', { file: NONE, text: 'From: a@a.example\n\nx', helo: 'a b' }, 'Not analysed', true],
  ['/message', 'mail_from', { file: NONE, text: 'From: a@a.example\n\nx', mail_from: 'a b' }, 'Not analysed', true],
  ['/reports', 'file', { file: new File(['no report'], 'a<b>.xml') }, 'Not stored', true],
])('%s: %s', async (path, field, fields, words, isMultipart) => {
  const { statusCode, body } = await sent(path, fields, isMultipart === true)
  expect(statusCode).toBe(400)
  pointsAt(body, field, words)
  for (const typed of Object.values(fields)) {
    if (typeof typed !== 'string' || typed.trim() === '' || typed === 'auto' || typed === 'true') continue
    expect(body.replaceAll('\r\n', '\n')).toContain(
      typed.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    )
  }
})

it.each([
  ['/domain/a.example?selector=a%20b', 'selector', 'Not checked'],
  ['/reports/example.org?from=2026-13-01&to=2026-11-22', 'from', 'Not shown'],
  ['/reports/example.org?from=2026-11-01&to=soon', 'to', 'Not shown'],
])('%s: %s', async (url, field, words) => {
  const { statusCode, body } = await app.inject({ url, headers: HTML })
  expect(statusCode).toBe(400)
  pointsAt(body, field, words)
})

/** One field refers to the one sentence. */
function pointsAt(body: string, field: string, words: string): void {
  const wrong = [...body.matchAll(/<(?:input|select|textarea|fieldset)[^>]*aria-invalid="true"[^>]*>/g)].map(String)
  expect(wrong).toHaveLength(1)
  expect(wrong[0]).toContain(`name="${field}"`)
  expect(wrong[0]).toContain('aria-describedby="problem"')
  expect(body.match(/id="problem" role="alert">/g)).toHaveLength(1)
  expect(body).toContain(`id="problem" role="alert">${words}: `)
}

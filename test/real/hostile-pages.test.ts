import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Execute } from '../../src/operations/execute.ts'
import type { Operation } from '../../src/operations/operation.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { openSite } from '../../src/start/pages.ts'
import { labApp } from '../lab/app.ts'
import { labWorld } from '../lab/world.ts'
import { axeFinds, openBrowser, overflow, visitor } from './browser.ts'

/**
 * Every page with hostile text in every field of its answer that takes any text: nothing of it runs, leads elsewhere or
 * breaks the layout.
 */
const PAYLOAD = `"><img src=x onerror=alert(1)><script>alert(2)</script><svg/onload=alert(3)>' onmouseover='alert(4)' javascript:alert(5) </pre></code></title></textarea> \u202e\u0645\u0631\u062d\u0628\u0627 e\u0301\u0323\u0302 ${`${'x'.repeat(63)}.`.repeat(3)}${'y'.repeat(61)}`

let app: FastifyInstance
let origin: string
let browser: Awaited<ReturnType<typeof openBrowser>>
beforeAll(async () => {
  const world = labWorld()
  const operations = await allOperations()
  const site = openSite({ operations, world, version: PAYLOAD, execute })
  app = await labApp(world, { site, operations })
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
  browser = await openBrowser()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await app?.close()
})

const answers = new Map<Operation, ReturnType<Operation['receive']>>()

/** Answers with the example of an operation, poisoned. */
const execute: Execute = Object.assign(
  async (operation: Operation) => {
    const known = answers.get(operation) ?? operation.receive(poisoned(operation))
    answers.set(operation, known)
    if (!known.ok) throw new Error(known.problem.text)
    return { ...known.value, format: 'json' }
  },
  {
    lines: async () => {
      throw new Error('no page reads lines')
    },
  },
)

/**
 * The example of an operation with the payload in every text that its schema leaves free, and 400 findings where it has
 * some.
 */
function poisoned(operation: Operation): unknown {
  const answer = structuredClone(operation.example.output) as Record<string, unknown>
  poison(answer, () => operation.answer.safeParse(answer).success)
  const { findings } = answer
  if (Array.isArray(findings) && findings.length > 0)
    answer.findings = Array.from({ length: 400 }, (_, i) => findings[i % findings.length])
  return answer
}

function poison(at: object, isValid: () => boolean): void {
  for (const [key, value] of Object.entries(at)) {
    if (typeof value === 'object' && value !== null) poison(value, isValid)
    if (typeof value !== 'string') continue
    Reflect.set(at, key, PAYLOAD)
    if (!isValid()) Reflect.set(at, key, value)
  }
}

const JOB = `/jobs/job_${'A'.repeat(22)}`
it.each([
  '/domain/a.example?wait=true',
  '/domain/a.example?only=check&wait=true',
  '/domain/a.example',
  '/address/joe@a.example?wait=true',
  '/ip/192.0.2.1?wait=true',
  '/jobs',
  JOB,
  '/monitors',
  `/monitors/mon_${'A'.repeat(22)}`,
  `/r/${'A'.repeat(22)}`,
  '/sources',
  '/blacklists',
  '/nodes',
  `/go?q=${encodeURIComponent(PAYLOAD)}`,
  `/domain/${encodeURIComponent('"><img src=x onerror=alert(1)>')}`,
])('%s', async (path) => {
  const { page, faults, context } = await visitor(browser, { width: 390, scheme: 'dark' }, origin)
  await page.goto(`${origin}${path}`)
  await page.waitForSelector('[aria-busy=true]', { state: 'detached' })
  expect(await page.textContent('main')).toContain('<img src=x onerror=alert(1)>') // it is there, as text
  expect(await made(page)).toEqual([])
  expect(await overflow(page)).toBeLessThanOrEqual(0)
  expect(faults).toEqual([])
  await context.close()
})

it('a record that is tried', async () => {
  const { page, faults, context } = await visitor(browser, { width: 390, scheme: 'light' }, origin)
  await page.goto(`${origin}/domain/a.example?wait=true`)
  await page.click('#more > summary')
  await page.click('summary >> nth=-1')
  await page.fill('details[open].try textarea', PAYLOAD)
  await page.click('details[open].try button')
  await page.getByText('As if the record below').waitFor()
  expect(await made(page)).toEqual([])
  expect(await overflow(page)).toBeLessThanOrEqual(0)
  expect(await axeFinds(page)).toEqual([])
  expect(faults).toEqual([])
  await context.close()
})

/** Elements and attributes that only the payload can have made. */
const made = (page: Parameters<typeof overflow>[0]): Promise<readonly string[]> =>
  page.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: { querySelectorAll: (selector: string) => Iterable<{ outerHTML: string }> }
    }
    const selector =
      'img, iframe, script:not([src^="/static/"]), [onerror], [onload], [onmouseover], [href^="javascript:"]'
    return [...document.querySelectorAll(selector)].map(({ outerHTML }) => outerHTML.slice(0, 200))
  })

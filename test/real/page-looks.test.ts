import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { axeFinds, openBrowser, overflow, visitor } from './browser.ts'
import { type Database, startDatabase } from './database.ts'
import { type Program, startProgram } from './program.ts'
import { makeShown, pathOf, type Shown } from './states.ts'

/**
 * Pages in browsers that are set up otherwise: without typefaces, at 200 %, with the colours of the system, without
 * motion, read aloud, printed.
 */
const PATHS = [
  '/',
  '/domain/neglected.test?wait=true',
  '/ip/45.53.9.9',
  '/jobs/JOB',
  '/monitors/MONITOR',
  '/docs/plan',
  '/docs/api/domains',
]

let program: Program
let database: Database
let browser: Awaited<ReturnType<typeof openBrowser>>
let shown: Shown
beforeAll(async () => {
  database = await startDatabase()
  ;[program, browser] = await Promise.all([startProgram(['--database-url', database.url]), openBrowser()])
  shown = await makeShown(program, database.url)
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await program?.stop()
  await database?.stop()
})

async function open(path: string, before?: (page: Page) => Promise<void>) {
  const one = await visitor(browser, { width: 1280, scheme: 'light' }, program.url)
  await before?.(one.page)
  await one.page.goto(`${program.url}${pathOf(path, shown)}`)
  await one.page.waitForSelector('[aria-busy=true]', { state: 'detached' })
  return one
}

it.each(PATHS)('%s without its typefaces', async (path) => {
  const { page, context } = await open(
    path,
    async (one) => void (await one.route('**/*.woff2', (route) => route.abort())),
  )
  expect(await overflow(page)).toBeLessThanOrEqual(0)
  expect(await page.evaluate('document.fonts.check("16px monospace")')).toBe(true)
  await context.close()
})

it.each([
  [390, '/domain/neglected.test?selector=a'],
  [1280, '/domain/neglected.test?selector=b'],
  [390, '/domain/healthy.test'],
  [1280, '/domain/missing.test?selector=a'],
  [1280, '/ip/45.53.5.1'],
  [1280, '/address/user@accept.test'],
  [390, '/docs/checks/spf'],
] as const)('at %i px nothing moves while %s is asked and shown', async (width, path) => {
  const { page, context } = await visitor(browser, { width, scheme: 'light' }, program.url)
  await page.addInitScript(
    `globalThis.shifts = 0; new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shifts += value })
      .observe({ type: 'layout-shift', buffered: true })`,
  )
  await page.goto(`${program.url}${path}`)
  await page.waitForSelector('[aria-busy=true]', { state: 'detached' })
  await page.evaluate('document.fonts.ready')
  expect(await page.evaluate('shifts')).toBeLessThan(0.02)
  await context.close()
})

it('Escape closes a menu, and only one is open', async () => {
  const { page, context } = await open('/domain/neglected.test')
  const menus = page.locator('details.menu[open]')
  await page.click('summary:has-text("Share")')
  expect(await menus.count()).toBe(1)
  await page.keyboard.press('Escape')
  expect([await menus.count(), await page.evaluate('document.activeElement.textContent')]).toEqual([0, 'Share'])
  await page.click('summary:has-text("Share")')
  await page.click('summary:has-text("Export")')
  expect(await menus.count()).toBe(1)
  await context.close()
})

it.each(PATHS)('%s at 200 %', async (path) => {
  const { page, context } = await open(path, (one) => one.setViewportSize({ width: 640, height: 422 }))
  expect(await overflow(page)).toBeLessThanOrEqual(0)
  expect(await axeFinds(page)).toEqual([])
  await context.close()
})

it.each([...PATHS, '/domain/healthy.test?wait=true', '/monitors', '/address/user@accept.test?wait=true'])(
  '%s on a phone: no word is broken in its middle',
  async (path) => {
    const { page, context } = await open(path, (one) => one.setViewportSize({ width: 390, height: 844 }))
    expect(await page.evaluate(BROKEN_WORDS)).toEqual([])
    await context.close()
  },
)

/** Words of text that stand on two lines; names, records and other code may. */
const BROKEN_WORDS = `(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  const broken = []
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (!text.parentElement.checkVisibility() || text.parentElement.closest('code, pre, svg, .hidden, .unseen, textarea, option')) continue
    for (const { 0: word, index } of text.data.matchAll(/(?<![\\p{L}\\p{N}@._/:-])\\p{L}{3,22}(?![\\p{L}\\p{N}@._/:-])/gu)) {
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1)
        broken.push(word + ' in ' + text.parentElement.outerHTML.slice(0, 120))
    }
  }
  return broken
})()`

it.each(PATHS)('%s with the colours of the system, without motion', async (path) => {
  const { page, context } = await open(path, (one) =>
    one.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' }),
  )
  expect(await overflow(page)).toBeLessThanOrEqual(0)
  expect(await page.evaluate('document.getAnimations().length')).toBe(0)
  // What says good or bad by colour says it in words, and buttons keep a border.
  expect(await page.evaluate(WORDLESS)).toEqual([])
  await context.close()
})

const WORDLESS = `[...document.querySelectorAll('.good, .warn, .bad, .open')]
  .filter((one) => !one.closest('[aria-hidden]') && one.textContent.trim() === '').map((one) => one.outerHTML.slice(0, 80))`

it.each(PATHS)('%s read aloud: one first heading, no level left out, landmarks, a language', async (path) => {
  const { page, context } = await open(path)
  const levels = (await page.evaluate(LEVELS)) as readonly number[]
  expect(levels.filter((level) => level === 1)).toHaveLength(1)
  expect(levels[0]).toBe(1)
  expect(levels.filter((level, i) => i > 0 && level > levels[i - 1]! + 1)).toEqual([])
  expect(
    await page.evaluate(
      '[document.documentElement.lang, document.title !== "", document.querySelectorAll("main").length]',
    ),
  ).toEqual(['en', true, 1])
  await context.close()
})

const LEVELS = `[...document.querySelectorAll('h1, h2, h3, h4')].filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]))`

/** What a newcomer asks, and the page where one would look: the answer is on the first screen. */
it.each([
  ['May Mailchimp send?', '/domain/neglected.test?wait=true', 'Who may send'],
  ['Why F?', '/domain/neglected.test?wait=true', 'How the score adds up'],
  ['What first?', '/domain/neglected.test?wait=true', '1. Correct the MX records'],
  ['By whom?', '/domain/neglected.test?wait=true', 'in your DNS'],
  ['Where is the API for it?', '/docs', 'HTTP API'],
  ['What happens at p=reject?', '/reports/neglected.test', 'What p=reject would do'],
  ['Who is this sender?', '/reports/neglected.test', 'Mailchimp'],
  ['Is my monitor telling anybody?', '/monitors/MONITOR', 'Nobody is told yet'],
  ['Why did this bounce?', '/message', 'a bounce, or what a server said'],
  ['How do I watch 50 domains?', '/monitors', 'Add many domains'],
])('%s', async (_, path, words) => {
  const { page, context } = await open(path)
  expect(await page.evaluate(ON_FIRST_SCREEN)).toContain(words)
  await context.close()
})

/** The visible text within the window. */
const ON_FIRST_SCREEN = `(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  let seen = ''
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    range.selectNodeContents(text)
    if (text.parentElement.checkVisibility() && range.getBoundingClientRect().bottom <= innerHeight) seen += text.data
  }
  return seen
})()`

it('the examples of a document ask this service, about the domain that was checked last', async () => {
  const { page, context } = await open('/domain/neglected.test?wait=true')
  await page.goto(`${program.url}/docs/quickstart`)
  const examples = (await page.locator('pre').allTextContents()).join('\n')
  expect(examples).toContain(`curl -s '${program.url}/v1/check?domain=neglected.test'`)
  expect(examples).not.toContain('127.0.0.1:8080')
  expect(await page.locator('nav.pages a').first().isVisible()).toBe(true)
  await context.close()
})

it('printed: every record of the plan is there, nothing is cut, no navigation', async () => {
  const { page, context } = await open('/domain/neglected.test?wait=true', (one) =>
    one.emulateMedia({ media: 'print' }),
  )
  await page.setViewportSize({ width: 690, height: 1_000 }) // A4 without its margins
  expect(await overflow(page)).toBeLessThanOrEqual(0)
  const folded = `[...document.querySelectorAll('.step .publish, .step pre')].map((one) => one.getBoundingClientRect().height > 0)`
  const open_ = (await page.evaluate(folded)) as readonly boolean[]
  expect(open_.length).toBeGreaterThan(3)
  expect(open_).not.toContain(false)
  for (const gone of ['.bar', '.end', 'main button', '.try'])
    expect([gone, await page.locator(gone).first().isVisible()]).toEqual([gone, false])
  await context.close()
})

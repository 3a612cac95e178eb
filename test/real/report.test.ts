import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Program, startProgram } from './program.ts'

/** The report as a page in a browser: what an administrator sees and sends on. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const hasBrowser = existsSync(CHROMIUM)
if (!hasBrowser) console.warn(`SKIPPED: there is no browser at ${CHROMIUM}; the pages of reports are not looked at`)

let program: Program
let browser: Browser | undefined
beforeAll(async () => {
  program = await startProgram()
  if (hasBrowser)
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    })
})
afterAll(async () => {
  await browser?.close()
  await program?.stop()
})

/** What runs in the page, as text: the project's types know no browser. */
const LOOK = `({
  border: getComputedStyle(document.querySelector('.score')).borderTopStyle,
  beyond: document.documentElement.scrollWidth - window.innerWidth,
})`
const VIOLATIONS = `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))`
const INJECT = `(() => {
  const script = document.createElement('script')
  script.textContent = 'window.ran = true'
  document.body.append(script)
  return window.ran ?? false
})()`

const DOMAINS = [
  'healthy.test',
  'neglected.test',
  'listed.test',
  'parked.test',
  'abandoned.test',
  'bogus.test',
  'missing.test',
]
const WIDTHS = [390, 1_280] as const
const SCHEMES = ['light', 'dark'] as const
const VIEWS = DOMAINS.flatMap((domain) =>
  WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ domain, width, scheme }))),
)

describe.skipIf(!hasBrowser)('in Chromium', () => {
  it.each(VIEWS)('$domain at $width pixels, $scheme', async ({ domain, width, scheme }) => {
    const context = await browser!.newContext({ viewport: { width, height: 900 }, colorScheme: scheme })
    const page = await context.newPage()
    const seen: string[] = []
    const loaded: string[] = []
    page.on('console', (message) => void seen.push(message.text()))
    page.on('pageerror', (error) => void seen.push(error.message))
    page.on('request', (request) => void loaded.push(request.url()))
    const url = `${program.url}/v1/report?domain=${domain}&format=html`
    await page.goto(url)
    expect(await page.title()).toBe(`Mail report: ${domain}`)
    // Nothing beside the page is loaded, the style is in force under the policy, and nothing sticks out.
    expect(loaded.filter((one) => one !== url && !one.endsWith('/favicon.ico'))).toEqual([])
    const look = await page.evaluate(LOOK)
    expect(look).toEqual({ border: 'solid', beyond: 0 })
    expect(seen.filter((text) => !text.includes('favicon'))).toEqual([])
    await page.evaluate(AXE)
    const violations = await page.evaluate(VIOLATIONS)
    expect(violations).toEqual([])
    await context.close()
  })

  it('a script in it would not run', async () => {
    const page = await browser!.newPage()
    await page.goto(`${program.url}/v1/report?domain=healthy.test&format=html`)
    const ran = await page.evaluate(INJECT)
    expect(ran).toBe(false)
    await page.close()
  })
})

it('the page and the Markdown by their names, and check too', async () => {
  for (const path of ['/v1/report?domain=listed.test', '/v1/check?domain=listed.test']) {
    const html = await program.get(`${path}&format=html`)
    expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(html.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]{43}='/)
    const markdown = await program.get(`${path}&format=markdown`)
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(markdown.body).toMatch(/^# listed\.test: grade [A-F]/)
  }
})

it('what is listed is the first check, with where to ask for removal', async () => {
  const { body } = await program.get('/v1/report?domain=listed.test&format=markdown')
  const [, first = ''] = String(body).split('## All checks')
  expect(first.slice(0, 1_500)).toMatch(/### Blacklists ✕ Broken 45\\?\.53\.9\.9 is on 5/)
  expect(first).toContain('[Removal from Spamhaus ZEN](https://check.spamhaus.org/)')
})

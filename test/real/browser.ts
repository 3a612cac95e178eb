import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Debian's Chromium, without anything that it would do on its own. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--headless',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

/** How a page is looked at. */
export type Look = {
  readonly width: 390 | 1280
  readonly scheme: 'light' | 'dark'
  readonly script?: false
}
/**
 * A visitor with a browser, and what went wrong while it looked: scripts that failed, dialogs, violations of the
 * Content-Security-Policy, requests to elsewhere.
 */
export type Visitor = {
  readonly page: Page
  readonly context: BrowserContext
  readonly faults: string[]
}

export async function visitor(browser: Browser, look: Look, origin: string): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width: look.width, height: 844 },
    colorScheme: look.scheme,
    javaScriptEnabled: look.script !== false,
    reducedMotion: 'reduce',
  })
  const faults: string[] = []
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`))
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to|Uncaught/.test(message.text())) faults.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) faults.push(`request: ${url}`)
  })
  return { page, context, faults }
}

/** What axe-core finds on a page, by one rule or by all, as lines; it must find nothing. */
export async function axeFinds(page: Page, rule?: string): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async (only) => {
    type Result = { violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }
    const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<Result> } }
    const { violations } = await axe.run({ resultTypes: ['violations'], ...(only && { runOnly: [only] }) })
    return violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
    )
  }, rule)
}

/** Pixels by which the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { document, innerWidth } = globalThis as unknown as {
      document: { documentElement: { scrollWidth: number } }
      innerWidth: number
    }
    return document.documentElement.scrollWidth - innerWidth
  })

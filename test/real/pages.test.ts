import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { axeFinds, type Look, openBrowser, overflow, type Visitor, visitor } from './browser.ts'
import { type Database, startDatabase } from './database.ts'
import { OTHER_PAGES } from './pages.ts'
import { type Program, startProgram } from './program.ts'

/** The pages as people see them: Debian's Chromium and the program, in the mini internet. */
let program: Program
let locked: Program
let browser: Awaited<ReturnType<typeof openBrowser>>
let job: string
let database: Database
beforeAll(async () => {
  database = await startDatabase()
  ;[program, locked, browser] = await Promise.all([
    startProgram(['--database-url', database.url]),
    startProgram(['--api-key', 'a-key-of-the-lab']),
    openBrowser(),
  ])
  await warm()
  job = await submitted()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await Promise.all([program?.stop(), locked?.stop()])
  await database?.stop()
})

/** Asks once for what the pages show, so that the lists were tested and answers are remembered. */
async function warm(): Promise<void> {
  await Promise.all(['/v1/report?domain=neglected.test', '/v1/blacklist?ip=45.53.9.9'].map(program.get))
}

async function submitted(): Promise<string> {
  const body = `name,email\n${Array.from({ length: 60 }, (_, i) => `Row ${i},user${i}@accept.test`).join('\n')}\n=cmd(),<b>x</b>@accept.test\n`
  const made = await fetch(`${program.url}/v1/jobs?name=A+list`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/csv' },
  })
  const { id, detail } = (await made.json()) as { id: string; detail?: string }
  expect(made.status, detail).toBe(202)
  const until = performance.now() + 60_000
  const state = async () => ((await program.get(`/v1/jobs/${id}`)).body as { state: string }).state
  while ((await state()) !== 'done' && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 250))
  return id
}

const open = async (look: Look, path: string, at: Program = program): Promise<Visitor> => {
  const one = await visitor(browser, look, at.url)
  await one.page.goto(`${at.url}${path}`)
  if (look.script !== false) await one.page.waitForSelector('[aria-busy=true]', { state: 'detached' })
  return one
}

/** Path, and words that it must show. */
const PAGES: readonly (readonly [path: string, words: string])[] = [
  ['/', 'How does the mail of a domain stand?'],
  ['/go?q=nothing+of+the+kind', 'Not understood'],
  ['/domain/neglected.test', 'to fix first'],
  ['/domain/healthy.test?only=check', 'Every check'],
  ['/domain/missing.test', 'missing.test'],
  ['/domain/x', 'Not a domain name'],
  ['/address/user@accept.test', 'accept.test'],
  ['/ip/45.53.9.9', '45.53.9.9'],
  ['/jobs', 'A list'],
  ['/jobs/JOB', 'Row 1'],
  ['/nodes', 'Nodes'],
  ['/docs', 'Documents'],
  ['/docs/operations', 'Documents'],
  ['/nowhere', 'There is nothing here'],
  ...OTHER_PAGES,
]
const pathOf = (path: string): string => path.replace('JOB', job)

describe.each(PAGES)('%s', (path, words) => {
  it('at 390 and 1280 px, dark and light', async () => {
    const { page, faults, context } = await open({ width: 390, scheme: 'dark' }, pathOf(path))
    expect(await page.textContent('body')).toContain(words)
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(await axeFinds(page)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 844 })
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(await axeFinds(page)).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })

  it('without script', async () => {
    const { page, faults, context } = await open({ width: 390, scheme: 'light', script: false }, pathOf(path))
    await page.getByText(words).first().waitFor()
    expect(faults).toEqual([])
    await context.close()
  })
})

it('the page that asks for a key, and what follows', async () => {
  const { page, faults, context } = await open({ width: 390, scheme: 'dark' }, '/ip/45.53.9.9', locked)
  expect(await page.textContent('h1')).toBe('Log in to go on')
  expect(await axeFinds(page)).toEqual([])
  await page.fill('#key', 'wrong')
  await page.keyboard.press('Enter')
  await page.getByText('This key is not known here').waitFor()
  expect(await axeFinds(page)).toEqual([])
  await page.fill('#key', 'a-key-of-the-lab')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/ip/45.53.9.9')
  await page.click('text=Log out')
  await page.waitForURL(`${locked.url}/`)
  expect(faults).toEqual([])
  await context.close()
})

it('from the start to the three things to fix in three actions, by keyboard alone; a record is tried', async () => {
  const { page, faults, context } = await open({ width: 1280, scheme: 'light' }, '/')
  await page.keyboard.type('https://neglected.test/x')
  expect(await page.textContent('#hint')).toContain('neglected.test')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/domain/neglected.test')
  await page.getByText('to fix first').waitFor()
  await focusOn(page, 'summary')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab') // name
  await page.keyboard.press('Tab') // type
  await page.keyboard.press('Tab') // value
  await page.keyboard.press('Tab') // the button
  await page.keyboard.press('Enter')
  await page.getByText('What would change').waitFor()
  expect(await axeFinds(page)).toEqual([])
  await page.goto(`${program.url}/`)
  expect(await page.textContent('#last')).toContain('neglected.test')
  expect(faults).toEqual([])
  await context.close()
})

/** Presses Tab until an element has the focus; what has it shows an outline. */
async function focusOn(page: Visitor['page'], tag: string): Promise<void> {
  for (let i = 0; i < 200; i++) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate(() => {
      type Element = { tagName: string; outerHTML: string }
      const { document, getComputedStyle } = globalThis as unknown as {
        document: { activeElement: Element }
        getComputedStyle: (of: Element) => { outlineStyle: string }
      }
      const one = document.activeElement
      return {
        tag: one.tagName.toLowerCase(),
        outline: getComputedStyle(one).outlineStyle,
        html: one.outerHTML.slice(0, 100),
      }
    })
    expect(at.outline, at.html).not.toBe('none')
    if (at.tag === tag) return
  }
  throw new Error(`no ${tag} was reached`)
}

it('a list is dropped, shown as it is read, and taken in; a job is paused and deleted', async () => {
  const { page, faults, context } = await open({ width: 1280, scheme: 'dark' }, '/jobs')
  const buffer = Buffer.from('who;contact\n<img src=x onerror=alert(1)>;user@accept.test\nAnn;nobody@accept.test\n')
  await page.setInputFiles('input[type=file]', { name: 'list.csv', mimeType: 'text/csv', buffer })
  await page.getByText('The first rows').waitFor()
  expect(await page.textContent('#preview')).toContain('<img src=x onerror=alert(1)>')
  expect(await axeFinds(page)).toEqual([])
  await page.click('#preview button')
  await page.waitForURL('**/jobs/job_*')
  await page.getByText('user@accept.test').first().waitFor()
  await page.click('text=Delete with its results')
  await page.waitForURL('**/jobs')
  expect(faults).toEqual([])
  await context.close()
})

it('a list is pasted, without script', async () => {
  const { page, faults, context } = await open({ width: 390, scheme: 'light', script: false }, '/jobs')
  await page.click('summary')
  await page.fill('textarea', 'user@accept.test\nnobody@accept.test')
  await page.click('details button')
  await page.getByText('Text with one row a line').waitFor()
  await page.click('text=Start the job')
  await page.waitForURL('**/jobs/job_*')
  expect(faults).toEqual([])
  await context.close()
})

it('a file is sent, without script', async () => {
  const { page, context } = await open({ width: 390, scheme: 'light', script: false }, '/jobs')
  const buffer = Buffer.from('who;contact\nJoe;user@accept.test\n')
  await page.setInputFiles('input[type=file]', { name: 'list.csv', mimeType: 'text/csv', buffer })
  await page.click('#upload button')
  await page.getByText('CSV with a header').waitFor()
  await context.close()
})

it('a lost connection is shown and resumed', async () => {
  const { page, faults, context } = await open({ width: 1280, scheme: 'light' }, '/')
  let cut = 0
  await context.route('**/events*', (route) => (cut++ === 0 ? route.abort('connectionreset') : route.continue()))
  await page.goto(`${program.url}/domain/healthy.test`)
  await page.getByText('The connection was lost').waitFor()
  await page.getByText('Every check').waitFor()
  expect([cut > 1, faults]).toEqual([true, []])
  await context.close()
})

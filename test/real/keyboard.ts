import type { Page } from 'playwright-core'

/** What the functions below need of a browser's page, which this program's types do not have. */
type Element = {
  readonly matches: (selector: string) => boolean
  readonly checkVisibility: (options: object) => boolean
  readonly compareDocumentPosition: (other: Element) => number
  readonly getBoundingClientRect: () => { readonly top: number; readonly bottom: number; readonly width: number }
  readonly isConnected: boolean
  readonly outerHTML: string
}
type Window = {
  readonly document: {
    readonly activeElement: Element
    readonly querySelectorAll: (selector: string) => Iterable<Element>
    readonly addEventListener: (event: string, told: (event: { readonly target: Element }) => void) => void
  }
  readonly innerHeight: number
  readonly getComputedStyle: (of: Element) => { readonly outlineStyle: string; readonly outlineWidth: string }
  readonly reached: Set<Element>
  readonly wrong: string[]
}

/** Presses of Tab on one page at most. */
const MOST = 1_500

/**
 * What somebody without a pointer meets on a page, as lines; there must be none: controls that Tab does not reach, or
 * not in the order of the page, that show no focus, or that are out of sight while they have it; a link to the content
 * that does not lead there.
 */
export async function keyboardFinds(page: Page): Promise<readonly string[]> {
  const wanted = await page.evaluate(watchFocus)
  for (let pressed = 0; pressed < MOST; pressed += 10) {
    await Promise.all(Array.from({ length: 10 }, () => page.keyboard.press('Tab')))
    const reached = await page.evaluate(() => (globalThis as unknown as Window).reached.size)
    if (reached >= wanted) break
  }
  const finds = await page.evaluate(missed)
  await page.focus('.skip')
  await page.keyboard.press('Enter')
  const at = await page.evaluate(() => (globalThis as unknown as Window).document.activeElement.outerHTML.slice(0, 60))
  return at.startsWith('<main') ? finds : [...finds, `the link to the content leads to ${at}`]
}

/** Watches where the focus goes; gives how many controls there are. */
function watchFocus(): number {
  const { document, getComputedStyle, innerHeight, ...rest } = globalThis as unknown as Window
  void rest
  const reached = new Set<Element>()
  const wrong: string[] = []
  let last: Element | undefined
  document.addEventListener('focusin', ({ target }) => {
    if (reached.has(target)) return
    const { outlineStyle, outlineWidth } = getComputedStyle(target)
    const { top, bottom, width } = target.getBoundingClientRect()
    const html = target.outerHTML.slice(0, 120)
    if (outlineStyle === 'none' || outlineWidth === '0px') wrong.push(`shows no focus: ${html}`)
    if (width === 0 || bottom < 0 || top > innerHeight) wrong.push(`has the focus out of sight: ${html}`)
    // Bit 2: the other one precedes it. The first of the page follows the last.
    if (last?.isConnected && (target.compareDocumentPosition(last) & 2) === 0 && !target.matches('.skip'))
      wrong.push(`comes out of order: ${html}`)
    reached.add(target)
    last = target
  })
  Object.assign(globalThis, { reached, wrong })
  const controls = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]'
  const all = [...document.querySelectorAll(controls)].filter(
    (one) => one.checkVisibility({ visibilityProperty: true }) && !one.matches('[type=radio]:not(:checked)'),
  )
  Object.assign(globalThis, { controls: all })
  return all.length
}

function missed(): readonly string[] {
  const { reached, wrong, controls } = globalThis as unknown as Window & { readonly controls: readonly Element[] }
  // What a live page has replaced meanwhile cannot be reached.
  const unreached = controls.filter((one) => one.isConnected && !reached.has(one))
  return [...wrong, ...unreached.map(({ outerHTML }) => `Tab does not reach ${outerHTML.slice(0, 120)}`)]
}

/** Presses Tab until an element that fits the selector has the focus. */
export async function focusOn(page: Page, selector: string): Promise<void> {
  for (let i = 0; i < 300; i++) {
    await page.keyboard.press('Tab')
    const isAt = await page.evaluate(
      (wanted) => (globalThis as unknown as Window).document.activeElement.matches(wanted),
      selector,
    )
    if (isAt) return
  }
  throw new Error(`Tab does not reach ${selector}`)
}

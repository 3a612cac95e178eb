/**
 * A page that follows what goes on (a job, reports that come in): shows it live; reloads the page when the state
 * changes. Pages through the rows of a job in place.
 */

const progress = document.querySelector<HTMLElement>('#progress[data-events]')
const state = document.getElementById('state')
let lost = false

function say(text: string): void {
  if (state) state.textContent = text
}

/** Shows what is new, keeps the keyboard focus in a table, and open what was unfolded. */
function show(place: HTMLElement, html: string): void {
  const at = place.contains(document.activeElement) ? document.activeElement?.getAttribute('aria-label') : null
  const open = [...place.querySelectorAll('[open] > summary')].map((one) => one.textContent)
  place.innerHTML = html // the server has escaped every text in it
  for (const one of place.querySelectorAll('summary'))
    if (open.includes(one.textContent)) one.parentElement?.setAttribute('open', '')
  if (at) place.querySelector<HTMLElement>(`[aria-label="${CSS.escape(at)}"]`)?.focus({ preventScroll: true })
}

function follow(url: string): void {
  const source = new EventSource(url)
  source.addEventListener('open', () => {
    if (lost) say('Connected again.')
    lost = false
  })
  source.addEventListener('progress', (event) => {
    const told = JSON.parse(event.data)
    if (!progress) return
    show(progress, told.html)
    const details = document.getElementById('details')
    if (details) show(details, told.details)
    document.dispatchEvent(new Event('filled'))
    // Rows appear as they get results, as long as the page has room for them.
    const rows = document.querySelectorAll('#turned tbody tr').length
    if (rows < Number(progress.dataset.page) && !location.search.includes('cursor=')) turn(shown, true).catch(() => {})
    if (told.state === progress.dataset.state) return
    source.close()
    location.reload()
  })
  source.addEventListener('error', () => {
    lost = true
    say('The connection was lost. Trying again …')
    if (source.readyState === EventSource.CLOSED) setTimeout(() => follow(url), 3_000)
  })
}

if (progress?.dataset.events) follow(progress.dataset.events)

const pathOf = ({ pathname, search }: Location | HTMLAnchorElement): string => pathname + search
let shown = pathOf(location)

/**
 * Replaces the shown rows by those of a path: a browser keeps every page that it loads for a while, and there are
 * thousands of pages.
 */
async function turn(path: string, isStill = false): Promise<void> {
  shown = path
  const answer = await fetch(path, { headers: { accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const rows = page.getElementById('turned')
  if (shown !== path) return
  if (!rows) return isStill ? undefined : location.reload()
  document.getElementById('turned')?.replaceWith(rows)
  if (isStill) return
  document.getElementById('rows')?.scrollIntoView()
  rows.querySelector<HTMLElement>('[tabindex]')?.focus({ preventScroll: true })
}

document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('#turned .actions a') : null
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  history.pushState(null, '', link.href)
  turn(pathOf(link)).catch(() => location.reload())
})
addEventListener('popstate', () => {
  if (pathOf(location) !== shown) turn(pathOf(location)).catch(() => location.reload())
})

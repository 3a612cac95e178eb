/** The page of a job: its progress as it comes; the page is loaded again when the state changes. */

const progress = document.querySelector<HTMLElement>('#progress[data-events]')
const state = document.getElementById('state')
let lost = false

function say(text: string): void {
  if (state) state.textContent = text
}

/** Shows how far the job is; whoever reads a table by keyboard stays in it. */
function show(place: HTMLElement, html: string): void {
  const at = place.contains(document.activeElement) ? document.activeElement?.getAttribute('aria-label') : null
  place.innerHTML = html // the server has escaped every text in it
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

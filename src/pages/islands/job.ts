/** The page of a job: its progress as it comes; the page is loaded again when the state changes. */

const progress = document.querySelector<HTMLElement>('#progress[data-events]')
const state = document.getElementById('state')
let lost = false

function say(text: string): void {
  if (state) state.textContent = text
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
    progress.innerHTML = told.html // the server has escaped every text in it
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

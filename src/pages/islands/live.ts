/**
 * A page whose answer arrives in parts: fills its places from an event stream, shows when the connection is lost, and
 * reconnects.
 */

const main = document.querySelector<HTMLElement>('main[data-live]')
/** Number of retries of a refused connection, and the interval, ms. */
const TRIES = 20
const PAUSE_MS = 3_000

let failures = 0

function say(text: string): void {
  const state = document.getElementById('state')
  if (state) state.textContent = text
}

function fill(data: { check: string; html: string }): void {
  const place = document.getElementById(`part-${data.check}`)
  const said = place?.querySelector('.said')
  if (!place || !said) return
  // The server has escaped every text in it.
  if (place.classList.contains('done')) said.insertAdjacentHTML('beforeend', `<br>${data.html}`)
  else said.innerHTML = data.html
  place.classList.add('done')
  said.classList.remove('quiet')
}

function finish(html: string): void {
  if (!main) return
  main.innerHTML = html
  main.removeAttribute('aria-busy')
  main.removeAttribute('data-live')
  main.focus({ preventScroll: true })
  document.dispatchEvent(new Event('filled'))
}

function listen(url: string): void {
  const doing = document.getElementById('state')?.textContent ?? ''
  const source = new EventSource(url)
  source.addEventListener('open', () => {
    for (const place of document.querySelectorAll('.done')) place.classList.remove('done')
    say(failures > 0 ? 'Connected again.' : doing)
    failures = 0
  })
  source.addEventListener('part', (event) => fill(JSON.parse(event.data)))
  source.addEventListener('answer', (event) => {
    source.close()
    finish(JSON.parse(event.data).html)
  })
  source.addEventListener('failed', (event) => {
    source.close()
    const state = document.getElementById('state')
    if (state) state.innerHTML = JSON.parse(event.data).html
    main?.removeAttribute('aria-busy')
  })
  source.addEventListener('error', () => {
    failures++
    if (failures > TRIES) {
      source.close()
      say('The service cannot be reached. Reload the page later.')
      return
    }
    say('The connection was lost. Trying again …')
    // A browser reconnects by itself unless it was refused.
    if (source.readyState !== EventSource.CLOSED) return
    setTimeout(() => listen(url), PAUSE_MS)
  })
}

if (main?.dataset.live) listen(main.dataset.live)

/**
 * A page with an answer: stores the visited subject in this browser, for the start page, and fetches what came after
 * the answer.
 */

const KEY = 'mailsonde.last'
/** Maximum number of visited subjects that a browser keeps. */
const MOST = 10

function remember(): void {
  const main = document.querySelector<HTMLElement>('main[data-answer]')
  if (!main || main.dataset.live !== undefined) return
  const { answer: path = '', title = '' } = main.dataset
  try {
    const before: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    const others = Array.isArray(before) ? before.filter((one) => one?.path !== path) : []
    const grade = main.querySelector('.score b, .conclusion .status')?.textContent?.trim() ?? ''
    localStorage.setItem(KEY, JSON.stringify([{ path, title, grade, at: Date.now() }, ...others].slice(0, MOST)))
  } catch {
    // A browser without storage.
  }
}

async function fetchLater(): Promise<void> {
  const place = document.querySelector<HTMLElement>('[data-later]')
  const path = place?.dataset.later
  if (!place || path === undefined) return
  place.removeAttribute('data-later')
  const answer = await fetch(path).catch(() => undefined)
  // The server has escaped every text in it.
  if (answer?.ok) place.innerHTML = await answer.text()
}

function show(): void {
  remember()
  void fetchLater()
}

show()
document.addEventListener('filled', show)

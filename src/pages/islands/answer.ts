/** A page with an answer: stores the visited subject in this browser, for the start page. */

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
    localStorage.setItem(KEY, JSON.stringify([{ path, title, at: Date.now() }, ...others].slice(0, MOST)))
  } catch {
    // A browser without storage.
  }
}

remember()
document.addEventListener('filled', remember)

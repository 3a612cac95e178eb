/** On every page: a button at each record and each received text, which copies it; times in the visitor's time zone. */

function addCopyButtons(root: ParentNode): void {
  for (const place of root.querySelectorAll<HTMLElement>('.publish .value code, main pre:not(.tree pre)')) {
    if (place.dataset.copies !== undefined || place.textContent === '') continue
    place.dataset.copies = ''
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', () => void copy(place, button))
    const box = place.tagName === 'PRE' ? document.createElement('div') : place.parentElement
    if (!box) continue
    box.classList.add('copyable')
    if (place.tagName === 'PRE') {
      place.replaceWith(box)
      box.append(place)
    }
    box.prepend(button)
  }
}

async function copy(place: HTMLElement, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(place.textContent ?? '')
    button.textContent = 'Copied'
  } catch {
    // Not permitted, or no HTTPS: the text is selected, so that it can be copied by keyboard.
    getSelection()?.selectAllChildren(place)
    button.textContent = 'Selected'
  }
  setTimeout(() => (button.textContent = 'Copy'), 2_000)
}

const MINUTE_MS = 60_000

/** `2026-11-23 04:05` in the time zone of the browser. */
const localOf = (time: Date): string =>
  new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16).replace('T', ' ')

/** `5 minutes ago`, `in 3 hours`, for times within a week of now; otherwise nothing. */
function relativeOf(time: Date): string {
  const minutes = (time.getTime() - Date.now()) / MINUTE_MS
  const away = Math.abs(minutes)
  if (away > 7 * 1_440) return ''
  const [length, unit] =
    away < 90 ? [1, 'minute' as const] : away < 2_160 ? [60, 'hour' as const] : [1_440, 'day' as const]
  const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
  return words.format(Math.round(minutes / length), unit)
}

/** Each time in the visitor's zone; the title has it in UTC. */
function showLocalTimes(root: ParentNode): void {
  for (const place of root.querySelectorAll<HTMLTimeElement>('time[datetime]:not([title])')) {
    const time = new Date(place.dateTime)
    if (Number.isNaN(time.getTime())) continue
    place.title = `${place.dateTime.slice(0, 16).replace('T', ' ')} UTC`
    const relative = place.closest('.chart') ? '' : relativeOf(time)
    place.textContent = localOf(time)
    if (relative === '') continue
    const small = document.createElement('small')
    small.textContent = relative
    place.append(small)
  }
}

/** Evidence is folded: the target of a link is unfolded, even in browsers that do not do so by themselves. */
function unfoldNamed(): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  for (let at = named?.closest('details'); at; at = at.parentElement?.closest('details')) at.open = true
}

/** A page whose answer comes by itself in a moment is loaded again, unless somebody types. */
const again = document.querySelector<HTMLElement>('main[data-again]')?.dataset.again
if (again?.startsWith('/'))
  setTimeout(() => {
    if (!document.activeElement?.matches('input, textarea, select')) location.replace(again)
  }, 3_000)

function mend(): void {
  addCopyButtons(document)
  showLocalTimes(document)
}

addEventListener('hashchange', unfoldNamed)
/** Escape closes the open menu. */
addEventListener('keydown', ({ key }) => {
  const menu = document.querySelector<HTMLDetailsElement>('.menu[open]')
  if (!menu || key !== 'Escape') return
  menu.open = false
  menu.querySelector('summary')?.focus()
})
mend()
document.addEventListener('filled', mend)

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

const two = (value: number): string => String(value).padStart(2, '0')

/** `2026-11-23 04:05` in the time zone of the browser. */
const localOf = (time: Date): string =>
  `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${two(time.getHours())}:${two(time.getMinutes())}`

/** `5 minutes ago`, `in 3 hours`, for times within a week of now; otherwise nothing. */
function relativeOf(time: Date): string {
  const minutes = Math.round((time.getTime() - Date.now()) / 60_000)
  const [count, unit] =
    Math.abs(minutes) < 90
      ? [minutes, 'minute' as const]
      : Math.abs(minutes) < 36 * 60
        ? [Math.round(minutes / 60), 'hour' as const]
        : [Math.round(minutes / 1_440), 'day' as const]
  if (Math.abs(minutes) > 7 * 1_440) return ''
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(count, unit).replace('this minute', 'now')
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
  const named = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null
  for (let at = named?.closest('details'); at; at = at.parentElement?.closest('details')) at.open = true
}

/** Escape closes an open menu and returns to its button; so does a click elsewhere, which keeps the focus. */
function closeMenus(event: Event): void {
  const isEscape = event instanceof KeyboardEvent
  if (isEscape && event.key !== 'Escape') return
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('details.menu[open]')) {
    const isInside = menu.contains(event.target as Node)
    if (isEscape && isInside) menu.querySelector('summary')?.focus()
    if (isEscape || !isInside) menu.open = false
  }
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
addEventListener('keydown', closeMenus)
addEventListener('click', closeMenus)
mend()
document.addEventListener('filled', mend)

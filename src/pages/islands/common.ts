/** On every page: a button beside each record and each received text, which copies it. */

function addCopyButtons(root: ParentNode): void {
  for (const place of root.querySelectorAll<HTMLElement>('.publish dd:last-child code, main pre:not(.tree pre)')) {
    if (place.dataset.copies !== undefined || place.textContent === '') continue
    place.dataset.copies = ''
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', () => void copy(place, button))
    place.before(button)
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

/** Evidence is folded: the target of a link is unfolded, even in browsers that do not do so by themselves. */
function unfoldNamed(): void {
  const named = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null
  for (let at = named?.closest('details'); at; at = at.parentElement?.closest('details')) at.open = true
}

addEventListener('hashchange', unfoldNamed)
addCopyButtons(document)
document.addEventListener('filled', () => addCopyButtons(document))

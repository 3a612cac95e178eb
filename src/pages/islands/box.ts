/**
 * The start page: shows how the text in the search field is interpreted, and lists the subjects visited in this
 * browser.
 */

const input = document.querySelector<HTMLInputElement>('#q')
const hint = document.getElementById('hint')
const unchanged = hint?.textContent ?? ''
const KEY = 'mailsonde.last'

/** A guess from the form alone; the service decides. */
function takenFor(text: string): string {
  const bare = text.trim()
  if (bare === '') return unchanged
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(bare))
    return `A URL: its host, ${bare.split('/')[2]?.replace(/^.*@|:\d*$/g, '') ?? ''}, will be checked.`
  if (/^\S+[\s,;]+\S+/.test(bare) && !/[<("]/.test(bare)) {
    const isList = bare.split(/[\s,;]+/).every((word) => word === '' || /[.:]/.test(word))
    return isList ? 'Several values: a list.' : 'Enter one domain, address or IP address.'
  }
  if (/@.*@/.test(bare.replace(/"[^"]*"|<.*>/g, ''))) return 'More than one @.'
  if (bare.includes('@'))
    return /[^\s<]@[^\s@]+/.test(bare) ? 'A mail address: will be verified.' : 'The domain after the @ is missing.'
  if (/^\[?[0-9a-f:.]*:[0-9a-f:.]*\]?$/i.test(bare) || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(bare))
    return 'An IP address: will be looked up on 29 blacklists.'
  return bare.includes('.') ? 'A domain: its mail setup will be checked.' : 'A domain contains a dot.'
}

input?.addEventListener('input', () => {
  if (hint) hint.textContent = takenFor(input.value)
})

function showLast(): void {
  const section = document.getElementById('last')
  const list = section?.querySelector('ul')
  if (!section || !list) return
  let rows: unknown = []
  try {
    rows = JSON.parse(localStorage.getItem(KEY) ?? '[]')
  } catch {
    return
  }
  if (!Array.isArray(rows) || rows.length === 0) return
  for (const row of rows.slice(0, 10)) {
    if (typeof row?.path !== 'string' || !row.path.startsWith('/') || row.path.startsWith('//')) continue
    const link = document.createElement('a')
    link.href = row.path
    link.textContent = String(row.title)
    const item = document.createElement('li')
    const grade = document.createElement('b')
    grade.textContent = String(row.grade ?? '')
    const time = document.createElement('time')
    const at = new Date(Number(row.at))
    if (!Number.isNaN(at.getTime())) time.dateTime = at.toISOString()
    item.append(grade, link, time)
    list.append(item)
  }
  section.hidden = list.children.length === 0
  document.dispatchEvent(new Event('filled'))
  section.querySelector('button')?.addEventListener('click', () => {
    localStorage.removeItem(KEY)
    section.hidden = true
  })
}

showLast()

/**
 * Upload of a list (jobs, the start page): a file is chosen or dropped, its first rows are previewed, and the whole
 * file is sent, of any size.
 */

const drop = document.getElementById('drop')
const form = document.querySelector<HTMLFormElement>('#upload')
const place = document.getElementById('preview-place')
const hint = document.getElementById('upload-hint')
const input = form?.querySelector<HTMLInputElement>('input[type=file]')
const kind = form?.querySelector<HTMLSelectElement>('select')
const pasted = drop?.querySelector('textarea')
const token = drop?.dataset.token ?? ''
/** Number of octets of the preview. */
const HEAD = 65_536
const TYPES: Record<string, string> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  txt: 'text/plain',
}

let file: File | undefined

function say(text: string): void {
  if (hint) hint.textContent = text
}

/** The type of a compressed file, by its name: it has no preview. */
const typeOf = ({ name }: File): string => TYPES[name.toLowerCase().split('.').at(-2) ?? ''] ?? 'text/csv'

async function look(chosen: File): Promise<void> {
  file = chosen
  say(`Reading ${chosen.name} …`)
  if (/\.gz$/i.test(chosen.name)) return send(chosen, new FormData())
  const body = new FormData()
  const { name, size } = chosen
  const fields = { kind: kind?.value ?? 'auto', partial: size > HEAD ? 'cut' : 'whole', name }
  for (const [field, value] of Object.entries(fields)) body.set(field, value)
  // The service reads the encoding.
  body.set('file', chosen.slice(0, HEAD), name)
  const answer = await fetch(form?.action ?? '', { method: 'POST', body, headers: { accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const preview = page.querySelector(answer.ok ? '#preview' : '.refusal .lead, #problem')
  say(answer.ok ? `${name}, ${Math.ceil(size / 1_024).toLocaleString()} KiB` : `${name} cannot be read.`)
  place?.replaceChildren(...(preview ? [preview] : []))
  const submit = place?.querySelector<HTMLFormElement>('form[data-submit]')
  submit?.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(chosen, new FormData(submit), submit.dataset.submit)
  })
  submit?.querySelector('button')?.focus()
}

/** Sends the file unchanged, as it was previewed, with its progress, which an upload with fetch cannot report. */
function send(chosen: File, fields: FormData, type = typeOf(chosen)): void {
  const query = new URLSearchParams({
    kind: String(fields.get('kind') ?? kind?.value ?? '').replace(/^(?:auto)?$/, 'verify'),
    name: String(fields.get('name') || chosen.name).slice(0, 200),
  })
  if (type === 'text/csv' && fields.get('column')) query.set('column', String(fields.get('column')))
  const request = new XMLHttpRequest()
  request.open('POST', `/v1/jobs?${query}`)
  request.setRequestHeader('content-type', type)
  request.setRequestHeader('x-csrf-token', token)
  request.upload.addEventListener('progress', ({ loaded, total }) =>
    say(`Sent ${Math.floor((loaded / total) * 100)}% of ${chosen.name}`),
  )
  request.addEventListener('load', () => {
    const answer = JSON.parse(request.responseText || '{}')
    if (request.status === 202) location.href = `/jobs/${answer.id}`
    else say(`Not accepted: ${answer.detail ?? `status ${request.status}`}`)
  })
  request.addEventListener('error', () => say('The connection was lost. Choose it again.'))
  request.send(chosen)
}

function unfold(element: Element | null | undefined): void {
  element?.closest('details')?.setAttribute('open', '')
}

function begin(chosen: File | null | undefined): void {
  if (!chosen) return
  unfold(drop)
  look(chosen).catch(() => say('The service cannot be reached. Choose it again.'))
}

say('Drop a file anywhere on this page, or choose one: any size, also .gz. You see a preview first.')
form?.addEventListener('submit', (event) => {
  event.preventDefault()
  begin(input?.files?.[0])
})
input?.addEventListener('change', () => begin(input.files?.[0]))
kind?.addEventListener('change', () => begin(file))
if (drop) {
  document.addEventListener('dragover', (event) => {
    event.preventDefault()
    drop.classList.add('over')
  })
  document.addEventListener('dragleave', () => drop.classList.remove('over'))
  document.addEventListener('drop', (event) => {
    event.preventDefault()
    drop.classList.remove('over')
    begin(event.dataTransfer?.files[0])
  })
}

// Several lines that are pasted into the search field are a list, unless they are a folded header field.
document.querySelector('#box input')?.addEventListener('paste', (event) => {
  const text = (event as ClipboardEvent).clipboardData?.getData('text') ?? ''
  if (!pasted || !/\S[\r\n]+\s*\S/.test(text) || /^[a-z-]+:/i.test(text)) return
  event.preventDefault()
  pasted.value = text
  // Its own fold is inside that of the whole form.
  unfold(drop)
  unfold(pasted)
  pasted.focus()
})

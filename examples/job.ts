import { createClient } from 'mailsonde/client'

const client = createClient({ url: process.argv[2] ?? 'http://127.0.0.1:8080' })

// A list of addresses, verified in the background.
const list = 'email,name\njoe@example.org,Joe\nnobody@example.org,Nobody\n'
const job = await client.jobs.submit({ kind: 'verify', name: 'newsletter' }, list)

for await (const { data } of client.progress(job.id)) console.log(`${data.state}: ${data.done} of ${data.rows}`)

for await (const row of client.rows(job.id)) console.log(row.line, row.input, row.result)

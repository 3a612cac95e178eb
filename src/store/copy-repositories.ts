import { REPOSITORIES, type RepositoryName, type Store } from './contract.ts'

/** Number of rows that are read at a time. */
const PAGE = 500

/** Copies each row that does not exist yet from one store to another: repeating it changes nothing. */
export async function copyRepositories(from: Store, to: Store): Promise<string> {
  const lines: string[] = []
  for (const name of Object.keys(REPOSITORIES) as RepositoryName[]) {
    // the keys of the table
    let [copied, kept] = [0, 0]
    for (let after: string | undefined; ; ) {
      const rows = await from[name].list({ limit: PAGE, ...(after !== undefined && { after }) })
      for (const { key, value } of rows)
        if (await to[name].replace(key, value, undefined)) copied++
        else kept++
      after = rows.at(-1)?.key
      if (rows.length < PAGE) break
    }
    lines.push(`${name}: ${copied} rows copied${kept > 0 ? `, ${kept} were there already` : ''}`)
  }
  return lines.join('\n')
}

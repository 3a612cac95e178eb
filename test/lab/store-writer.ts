import { filesStore } from '../../src/store/files/files-store.ts'

/**
 * A process of its own that writes to a store: `node store-writer.ts FOLDER NAME COUNT` puts COUNT rows of its own, and
 * adds as many that it shares with others.
 */
const [folder = '', name = '', count = '0'] = process.argv.slice(2)
const { sources } = filesStore(folder, (event) => {
  throw new Error(event)
})
for (let i = 0; i < Number(count); i++) {
  await sources.put(`${name} ${i}`, i)
  await sources.add(`shared ${i}`, name)
}

import { sql } from './connection.ts'
import type { Trx } from './connection.ts'
import type { Bindings } from './prepared.ts'

let cursors = 0

/** Rows of a statement one after the other, some thousands at a time, so that memory stays bounded. Its transaction must stay open while they are read. */
export async function* streamed<Row extends object>(
  trx: Trx,
  text: string,
  bindings: Bindings,
  batch = 2_000,
): AsyncGenerator<Row> {
  cursors += 1
  const name = `rows_${cursors}`
  await sql(trx, `declare ${name} no scroll cursor for ${text}`, bindings)
  for (;;) {
    const rows = await sql<Row>(trx, `fetch ${batch} from ${name}`)
    yield* rows
    if (rows.length < batch) break
  }
  await sql(trx, `close ${name}`)
}

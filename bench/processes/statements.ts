import { createServer } from 'node:http'
import pg from 'pg'
import type { Statement } from '../capture.ts'

/** A reference of node:http and pg that answers with the statements it is sent and nothing else, each prepared. */
process.once('message', (message) => {
  const { url, statements } = message as { url: string; statements: Statement[] }
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  const answer = async () => {
    const client = await pool.connect()
    try {
      const results: unknown[][] = []
      // A text of several statements has an answer for each.
      for (const [index, { text, values }] of statements.entries()) {
        const name = values.length > 0 ? { name: `statement ${index}` } : {}
        for (const { rows } of [await client.query({ ...name, text, values })].flat()) results.push(rows ?? [])
      }
      return JSON.stringify({ data: results.reduce((most, rows) => (rows.length > most.length ? rows : most), []) })
    } finally {
      client.release()
    }
  }
  const server = createServer((_request, response) => {
    answer().then(
      (body) => response.setHeader('content-type', 'application/json').end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
  })
})

process.once('disconnect', () => process.exit())

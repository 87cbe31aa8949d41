import { expect } from 'chai'
import type { Server } from 'node:http'
import { open } from '../../api/lib/access/kinds.ts'
import { disagreements } from '../../api/lib/access/agreement.ts'
import { Bytes } from '../../api/lib/bytes.ts'
import type { BytesReply } from '../../api/lib/bytes.ts'
import { openApi } from '../../api/lib/openapi.ts'
import { Reply, route } from '../../api/lib/route.ts'
import { listen, makeServer } from '../../api/server.ts'
import { Matching, Obj } from '../../config/schema.ts'
import { sql } from '../../db/lib/connection.ts'
import { clientOf } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { checkReturned } from '../support/contract.ts'
import { useWorld } from '../support/world.ts'

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, at) => at))
const replies: Record<string, Extract<BytesReply, { bytes: Buffer | string }>> = {
  pdf: { mediaType: 'application/pdf', bytes: everyByte, fileName: 'relatório "março" 1/2;€.pdf' },
  page: { mediaType: 'text/html', bytes: '<!doctype html><p>Saída</p>' },
  table: { mediaType: 'text/csv', bytes: 'a;b\r\nç;1\r\n', fileName: 'a\r\nX-Injected: 1.csv' },
  other: { mediaType: 'image/png', bytes: everyByte },
}
const returns = Bytes(['application/pdf', 'text/html', 'text/csv'])
let made = 0

const read = route({
  id: 'files.read',
  method: 'GET',
  path: '/api/public/files/:kind',
  summary: 'Read a file',
  access: open(),
  params: Obj({ kind: Matching('^[a-z]+$', 10) }),
  cache: 'private, max-age=60',
  returns,
  handle: ({ params }) => Promise.resolve(replies[params.kind] as BytesReply),
})
const make = route({
  id: 'files.make',
  method: 'POST',
  path: '/api/public/files',
  summary: 'Make a file',
  access: open(),
  status: 201,
  returns,
  handle: () => Promise.resolve(new Reply({ mediaType: 'text/csv', bytes: `${(made += 1)}\r\n` }, { status: 201 })),
})

describe('a reply of bytes', () => {
  const world = useWorld()
  let server: Server
  let request: Client
  before(async () => {
    server = await makeServer([read, make])
    request = clientOf(await listen(server, 0, '127.0.0.1'))
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  it('arrives byte for byte, with its type, length and tag, and is not sniffed', async () => {
    const { address, port } = server.address() as { address: string; port: number }
    const raw = await fetch(`http://${address}:${port}/api/public/files/pdf`)
    expect(Buffer.from(await raw.arrayBuffer()).equals(everyByte)).to.equal(true)
    for (const kind of ['pdf', 'page', 'table']) {
      const reply = await request('GET', `/api/public/files/${kind}`)
      expect(reply.status).to.equal(200)
      expect(reply.headers['content-length']).to.equal(String(Buffer.byteLength(replies[kind]?.bytes ?? '')))
      expect(reply.headers['cache-control']).to.equal('private, max-age=60')
      checkReturned(read, kind, reply)
    }
    const page = await request('GET', '/api/public/files/page')
    expect(page.body).to.equal(replies.page?.bytes)
    expect(page.headers['content-type']).to.equal('text/html; charset=utf-8')
  })

  it('is saved under its name in any script, and shown where it has none', async () => {
    const pdf = await request('GET', '/api/public/files/pdf')
    const disposition = String(pdf.headers['content-disposition'])
    expect(disposition).to.match(/^attachment; filename="[\x20-\x7e\xa0-\xff]*"; filename\*=UTF-8''/)
    expect(decodeURIComponent(/filename\*=UTF-8''(.*)$/.exec(disposition)?.[1] ?? '')).to.equal('2;€.pdf')
    expect((await request('GET', '/api/public/files/page')).headers).not.to.have.property('content-disposition')
    const table = await request('GET', '/api/public/files/table')
    expect(table.headers).not.to.have.property('x-injected')
  })

  it('runs no script, and is a page of no origin where it is HTML', async () => {
    const { headers } = await request('GET', '/api/public/files/page')
    const policy = String(headers['content-security-policy'])
    expect(policy).to.match(/^sandbox allow-forms; default-src 'none';/)
    expect(policy).not.to.match(/script|same-origin/)
    expect((await request('GET', '/api/public/files/pdf')).headers['content-security-policy']).to.match(
      /^default-src 'none'/,
    )
  })

  it('is not sent again to a client that has it', async () => {
    const first = await request('GET', '/api/public/files/pdf')
    const tag = String(first.headers.etag)
    const again = await request('GET', '/api/public/files/pdf', { headers: { 'if-none-match': tag } })
    expect([again.status, again.body, again.headers.etag]).to.deep.equal([304, '', tag])
    const other = await request('GET', '/api/public/files/page', { headers: { 'if-none-match': tag } })
    expect(other.status).to.equal(200)
  })

  it('is never kept for an Idempotency-Key', async () => {
    const once = await request('POST', '/api/public/files', { idempotencyKey: 'bytes-1' })
    const twice = await request('POST', '/api/public/files', { idempotencyKey: 'bytes-1' })
    expect([once.status, once.body, twice.status, twice.body]).to.deep.equal([201, '1\r\n', 201, '2\r\n'])
    expect(await sql(world.database.admin, `select 1 from kept_reply`)).to.deep.equal([])
    const keeping = [read, { ...make, idempotency: 'required' as const }]
    expect(disagreements(keeping, openApi(keeping))).to.deep.equal([
      'files.make: replies of bytes are kept for no Idempotency-Key',
    ])
  })

  it('has a media type that its endpoint declares', async () => {
    expect((await request('GET', '/api/public/files/other')).status).to.equal(500)
    const reply = await request('GET', '/api/public/files/table')
    expect(() => checkReturned({ ...read, returns: Bytes(['text/html']) }, 'it', reply)).to.throw('does not declare')
  })

  it('stands in the document by its media types, beside errors in JSON', () => {
    const document = openApi([read, make]) as {
      paths: Record<string, Record<string, { parameters: { name: string }[]; responses: Record<string, unknown> }>>
    }
    const found = document.paths['/api/public/files/{kind}']?.get?.responses['200']
    expect(found)
      .to.have.property('content')
      .that.deep.equals({
        'application/pdf': {},
        'text/html': { schema: { type: 'string' } },
        'text/csv': { schema: { type: 'string' } },
      })
    expect(document.paths['/api/public/files']?.post?.parameters).to.deep.equal([])
  })
})

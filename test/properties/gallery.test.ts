import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { inPlatform, sql, sqlOne } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { requestImageChecks } from '../../jobs/properties.ts'
import { standIn } from '../../workers/lib/outgoing.ts'
import { readImageHeader } from '../../workers/properties/image-header.ts'
import { forgetLimits } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { extended, jpeg, lossless, lossy, png } from './pictures.ts'
import { openDesk } from './support.ts'
import type { Desk } from './support.ts'

const host = 'pictures.example'

describe('The pictures of a house', () => {
  const world = useWorld()
  let house: House
  let manager: Desk
  let server: Server
  let takeBack = () => {}
  let served: Record<string, (response: ServerResponse) => void> = {}
  const asked: string[] = []

  before(async () => {
    house = await makeHouse({ units: 1 })
    manager = await openDesk(world, house, 'manager')
    server = createServer((request, response) => {
      asked.push(request.url ?? '')
      const answer = served[request.url ?? '']
      if (answer) answer(response)
      else response.writeHead(404).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    takeBack = standIn({ host, port: (server.address() as AddressInfo).port })
  })
  after(() => {
    takeBack()
    server.closeAllConnections()
    server.close()
  })
  beforeEach(async () => {
    await forgetLimits(world)
    asked.splice(0)
    served = {}
  })

  const path = () => `properties/${house.propertyId}/gallery`
  const sends =
    (body: Buffer | string, status = 200) =>
    (response: ServerResponse) =>
      response.writeHead(status).end(body)
  const add = (file: string, more: object = {}) =>
    manager.send('POST', path(), { url: `https://${host}${file}`, category: 'exterior', ...more })
  const look = () => world.drain({ kinds: ['maintenance.check-image'] })
  const read = async (id: string) =>
    (await manager.get(`${path()}?limit=100`)).body.data.find((image: { id: string }) => image.id === id)
  const added = async (file: string, answer?: (response: ServerResponse) => void) => {
    if (answer) served[file] = answer
    const { body } = await add(file)
    const runs = await look()
    return { runs: runs.length, image: await read(body.id) }
  }
  const publicVersion = async () => (await manager.get(`properties/${house.propertyId}`)).body.publicVersion as number
  const events = (type: string) =>
    house.inHouse((trx) =>
      sql<{ data: { galleryImageId: string } }>(trx, `select data from event where type = ? order by occurred_at`, [
        type,
      ]),
    )

  it('are read by their content: JPEG, PNG and the three kinds of WebP', async () => {
    const size = { width: 1600, height: 1067 }
    expect(await readImageHeader(png(1600, 1067))).to.deep.equal({ mimeType: 'image/png', ...size })
    expect(await readImageHeader(jpeg(1600, 1067))).to.deep.equal({ mimeType: 'image/jpeg', ...size })
    for (const webp of [lossy, lossless, extended])
      expect(await readImageHeader(webp(1600, 1067))).to.deep.equal({ mimeType: 'image/webp', ...size })
    for (const bytes of [
      png(0, 10),
      png(10, 10).subarray(0, 20),
      jpeg(10, 10).subarray(0, 300),
      Buffer.from('GIF89a'),
      Buffer.from('<svg/>'),
      Buffer.alloc(0),
    ])
      expect(await readImageHeader(bytes)).to.equal(null)
  })

  it('are shown once a worker has looked at them', async () => {
    served['/front.jpg'] = sends(jpeg(2000, 1500))
    const before = await publicVersion()
    const { status, body } = await add('/front.jpg', { caption: { 'pt-BR': 'A fachada' }, position: 7 })
    expect([status, body.status, body.position, body.width]).to.deep.equal([201, 'pending', 7, null])
    const shown = async () =>
      (await world.request('GET', `/api/public/property/${house.propertyId}/gallery`)).body.images
    expect(await shown()).to.deep.equal([])
    expect(await publicVersion()).to.equal(before + 1)
    await look()
    expect(await read(body.id)).to.deep.include({
      status: 'ready',
      problem: null,
      width: 2000,
      height: 1500,
      mimeType: 'image/jpeg',
      bytes: jpeg(2000, 1500).length,
    })
    expect(await publicVersion()).to.equal(before + 2)
    expect(await shown()).to.deep.equal([
      {
        galleryImageId: body.id,
        url: `https://${host}/front.jpg`,
        category: 'exterior',
        unitTypeId: null,
        caption: 'A fachada',
        width: 2000,
        height: 1500,
        position: 7,
      },
    ])
    // Another look that finds the same changes nothing that guests see.
    await manager.send('PATCH', `${path()}/${body.id}`, {})
    const changed = await publicVersion()
    await look()
    expect(await publicVersion()).to.equal(changed)
    expect(asked).to.deep.equal(['/front.jpg', '/front.jpg'])
  })

  it('are broken, with the reason, where another look would find no better', async () => {
    const endless = (response: ServerResponse) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(1 << 20))) continue
      }
      response.on('drain', more)
      more()
    }
    const cases: [string, ((response: ServerResponse) => void) | undefined, string][] = [
      ['/page.html', sends('<html>'), 'file_type_mismatch'],
      ['/small.png', sends(png(799, 900)), 'too_narrow'],
      ['/absurd.png', sends(png(2 ** 32 - 1, 900)), 'file_type_mismatch'],
      ['/cut.jpg', sends(jpeg(900, 900).subarray(0, 310)), 'file_type_mismatch'],
      [
        '/huge.png',
        (response) => response.writeHead(200, { 'content-length': 21 * 1024 * 1024 }).end(png(900, 900)),
        'too_large',
      ],
      ['/endless.png', endless, 'too_large'],
      ['/gone.png', undefined, 'status_404'],
      [
        '/moved.png',
        (response) => response.writeHead(302, { location: 'https://10.0.0.1/a.png' }).end(),
        'redirect_elsewhere',
      ],
    ]
    const broken: string[] = []
    for (const [file, answer, problem] of cases) {
      const { runs, image } = await added(file, answer)
      broken.push(image.id)
      expect([file, image.status, image.problem, runs]).to.deep.equal([file, 'broken', problem, 1])
    }
    const { body } = await manager.send('POST', path(), { url: 'https://10.0.0.1/inside.png', category: 'exterior' })
    await look()
    expect(await read(body.id)).to.deep.include({ status: 'broken', problem: 'address_not_public' })
    const told = (await events('gallery_image.broken')).map(({ data }) => data.galleryImageId)
    expect(told).to.deep.equal([...broken, body.id])
  })

  it('are looked at four times where the other side fails, and are broken after the last', async () => {
    const failing = await added('/failing.png', sends('', 503))
    expect(failing.image).to.deep.include({ status: 'broken', problem: 'status_503' })
    expect(asked).to.deep.equal(Array(4).fill('/failing.png'))
    let tries = 0
    const { image } = await added('/late.png', (response) => {
      tries += 1
      if (tries < 3) response.destroy()
      else response.end(png(800, 600))
    })
    expect(image).to.deep.include({ status: 'ready', width: 800 })
    const gone = standIn({ host: 'dead.example', port: 1 })
    const { body } = await manager.send('POST', path(), { url: 'https://dead.example/a.png', category: 'exterior' })
    await look()
    gone()
    expect(await read(body.id)).to.deep.include({ status: 'broken', problem: 'econnrefused' })
  })

  it('come back when they are looked at again', async () => {
    const { image } = await added('/later.png')
    served['/later.png'] = sends(png(1000, 500))
    const stale = await manager.send(
      'PATCH',
      `${path()}/${image.id}`,
      { position: 3 },
      { headers: { 'if-match': '"99"' } },
    )
    expect(stale.status).to.equal(409)
    const { body } = await manager.send('PATCH', `${path()}/${image.id}`, { position: 3, unitTypeId: house.unitTypeId })
    expect(body).to.deep.include({ position: 3, unitTypeId: house.unitTypeId, version: 2 })
    await look()
    expect(await read(image.id)).to.deep.include({ status: 'ready', problem: null, width: 1000 })
  })

  it('are each there once, of types and languages of the house, and 200 at most', async () => {
    const code = async (reply: ReturnType<Desk['send']>) => {
      const { status, body } = await reply
      return [status, body.code]
    }
    await add('/once.png')
    expect(await code(add('/once.png'))).to.deep.equal([409, 'duplicate_code'])
    const other = await makeHouse({ tenantId: house.tenantId })
    expect(await code(add('/x.png', { unitTypeId: other.unitTypeId }))).to.deep.equal([422, 'reference_not_found'])
    expect(await code(add('/x.png', { caption: { en: 'Front' } }))).to.deep.equal([400, 'validation_failed'])
    const plain = { url: `http://${host}/a.png`, category: 'exterior' }
    expect(await code(manager.send('POST', path(), plain))).to.deep.equal([400, 'validation_failed'])
    const { body } = await manager.get(path())
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into gallery_image (property_id, url, category) select ?, 'https://pictures.example/' || n, 'common' from generate_series(1, ?::int) as n`,
        [house.propertyId, 199 - body.meta.total],
      ),
    )
    // Two at once, and room for one.
    const last = await Promise.all([add('/last.png'), add('/very-last.png')])
    expect(last.map((reply) => reply.status).toSorted((a, b) => a - b)).to.deep.equal([201, 422])
    expect(last.find((reply) => reply.status === 422)?.body.code).to.equal('too_many')
    await house.inHouse((trx) => sql(trx, `delete from gallery_image where category = 'common'`))
  })

  it('are looked at once a week, however many were looked at in the same instant', async () => {
    await look()
    const { total } = (await manager.get(path())).body.meta
    await sql(
      world.database.admin,
      `update gallery_image set checked_at = now() - interval '7 days 1 minute' where status <> 'ready'`,
    )
    const due = await sqlOne<{ n: number }>(
      world.database.admin,
      `select count(*)::int as n from gallery_image where status <> 'ready'`,
    )
    expect(due?.n).to.be.within(2, total - 1)
    asked.splice(0)
    await inPlatform((trx) => enqueue(trx, requestImageChecks, {}))
    await world.drain({ kinds: ['maintenance.request-image-checks'] })
    const queued = await sqlOne<{ n: number }>(
      world.database.admin,
      `select count(*)::int as n from jobs where kind = 'maintenance.check-image' and status = 'pending'`,
    )
    expect(queued?.n).to.equal(due?.n)
  })

  it('weaken the house while there are few, and are gone when removed', async () => {
    const small = async () =>
      (await manager.get(`properties/${house.propertyId}/readiness`)).body.warnings.some(
        (warning: { code: string }) => warning.code === 'gallery_small',
      )
    expect(await small()).to.equal(false)
    const { data } = (await manager.get(`${path()}?unitTypeId=${house.unitTypeId}`)).body
    const before = await publicVersion()
    expect((await manager.send('DELETE', `${path()}/${data[0].id}`, undefined)).status).to.equal(200)
    expect(await publicVersion()).to.equal(before + 1)
    expect(await small()).to.equal(true)
    expect((await manager.send('DELETE', `${path()}/${data[0].id}`, undefined)).status).to.equal(404)
    // A look that was asked for meanwhile finds nothing to look at.
    const runs = await look()
    expect(
      runs.every((run) => run.outcome === 'done' || run.outcome === 'skipped' || run.outcome === 'again'),
    ).to.equal(true)
  })
})

import { expect } from 'chai'
import { closeRedis } from '../../api/lib/redis.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { changeSettings } from '../../db/properties/house/properties/settings.ts'
import { suspendProperty } from '../../db/properties/house/properties/status.ts'
import { addImages } from '../../db/properties/house/gallery.ts'
import { writePrices } from '../../db/properties/rates/rate-cells.ts'
import { makeHouse } from '../support/factories.ts'
import { usePortal } from '../support/portal.ts'
import { connectRedis } from '../support/redis.ts'

describe('What guests may look at', () => {
  const portal = usePortal()
  describe('the portal', () => {
    it('is told by config, in the language asked for', async () => {
      const { status, body, headers } = await portal.get('config?locale=en')
      expect(status).to.equal(200)
      expect(body).to.include({
        propertyId: portal.house.propertyId,
        sales: 'open',
        currency: 'BRL',
        description: 'A house',
        today: portal.house.today,
      })
      expect(body.portal).to.include({ termsVersion: portal.house.termsVersion, terms: 'House terms', holdMinutes: 10 })
      expect(body.disclosures.taxes).to.deep.equal([
        { name: 'ISS', basis: 'percent', included: true, rate: 500 },
        { name: 'Tourism fee', basis: 'per_person_per_night', included: false, amount: 300 },
      ])
      expect(headers['cache-control']).to.equal('public, max-age=60, stale-while-revalidate=300')
      expect(headers['set-cookie']).to.equal(undefined)
      expect((await portal.get('config')).body.description).to.equal('Uma casa')
      expect((await portal.get('config?locale=fr')).body.description).to.equal('Uma casa')
    })

    it('shows a change at once, though the reply was kept', async () => {
      expect((await portal.get('config')).body.portal.maxNights).to.equal(30)
      await portal.house.inHouse((trx) => changeSettings(trx, portal.house.propertyId, { portal: { maxNights: 7 } }))
      expect((await portal.get('config')).body.portal.maxNights).to.equal(7)
      expect((await portal.stay()).body.offers[0].nights[0].amount).to.equal(18_000)
      await portal.house.inHouse((trx) =>
        writePrices(trx, portal.house.propertyId, [
          {
            ratePlanId: portal.house.ratePlanId,
            unitTypeId: portal.house.unitTypeId,
            date: portal.house.day(30),
            amount: 30_000,
          },
        ]),
      )
      expect((await portal.stay()).body.offers[0].nights[0].amount).to.equal(27_000)
    })

    it('is not there for drafts, closed portals, unknown properties and tenants that are suspended', async () => {
      const draft = await makeHouse({ draft: true })
      const closed = await makeHouse({ settings: { portal: { enabled: false } } })
      const gone = await makeHouse()
      await inPlatform((trx) =>
        sql(trx, `update tenant set status = 'suspended', reason = 'unpaid' where id = ?`, [gone.tenantId]),
      )
      for (const propertyId of [draft.propertyId, closed.propertyId, gone.propertyId, portal.house.tenantId, 'x'])
        for (const path of [
          'config',
          'rooms',
          'gallery',
          'payment-methods',
          `availability?arrival=${portal.house.day(3)}&departure=${portal.house.day(4)}`,
        ]) {
          const { status, body } = await portal.world.request('GET', `/api/public/property/${propertyId}/${path}`)
          expect([status, body.code], `${propertyId} ${path}`).to.be.deep.oneOf([
            [404, 'property_not_found'],
            ...(propertyId === 'x' ? [[400, 'validation_failed']] : []),
          ])
        }
    })

    it('reads on while sales are suspended, but sells nothing', async () => {
      await portal.house.inHouse((trx) => suspendProperty(trx, portal.house.propertyId))
      expect((await portal.get('config')).body.sales).to.equal('closed')
      const { status, body } = await portal.stay()
      expect([status, body.offers, body.unavailable[0].reasons]).to.deep.equal([200, [], ['property_not_selling']])
      expect((await portal.quote()).body.code).to.equal('property_not_selling')
    })

    it('works while Redis is down', async () => {
      closeRedis()
      try {
        for (const path of ['config', 'rooms', 'gallery', 'payment-methods'])
          expect((await portal.get(path)).status, path).to.equal(200)
        expect((await portal.stay()).body.offers).to.have.length(4)
      } finally {
        await connectRedis()
      }
    })
  })

  it('rooms are shown with public plans, prices from and pictures that are ready', async () => {
    await portal.house.inHouse((trx) =>
      addImages(trx, portal.house.propertyId, [
        {
          url: 'https://images.example/a.jpg',
          category: 'unit',
          unitTypeId: portal.house.unitTypeId,
          facts: { width: 1200, height: 800, mimeType: 'image/jpeg', bytes: 1000 },
        },
        { url: 'https://images.example/b.jpg', category: 'unit', unitTypeId: portal.house.unitTypeId },
      ]),
    )
    await portal.house.inHouse((trx) =>
      sql(trx, `update rate_plan set visibility = 'private' where id = ?`, [portal.house.saverPlanId]),
    )
    const { status, body } = await portal.get('rooms?locale=en')
    expect(status).to.equal(200)
    expect(body.unitTypes.map((type: { name: string }) => type.name)).to.deep.equal(['Room', 'Suite'])
    expect(body.unitTypes[0].images.map((image: { url: string }) => image.url)).to.deep.equal([
      'https://images.example/a.jpg',
    ])
    expect(body.unitTypes[0].ratePlans).to.have.length(1)
    expect(body.unitTypes[0].ratePlans[0]).to.include({
      ratePlanId: portal.house.ratePlanId,
      refundable: 'full',
      fromAmount: 20_000,
    })
    const gallery = await portal.get('gallery')
    expect(gallery.body.images).to.have.length(1)
    expect(gallery.headers['cache-control']).to.equal('public, max-age=600')
  })

  it('payment methods name no account, and fit the stay', async () => {
    const { body } = await portal.get('payment-methods?locale=en')
    expect(body.methods.map((offer: { method: string }) => offer.method)).to.deep.equal(['card', 'pix'])
    expect(body.methods[0]).to.deep.equal({
      method: 'card',
      label: 'Card',
      instructions: '',
      maxInstallments: 3,
      gateway: { provider: 'sandbox', publishableKey: 'pk_sandbox' },
    })
    await portal.house.inHouse((trx) =>
      sql(trx, `update property_payment_method set max_amount = 1000 where method = 'card'`),
    )
    await portal.world.redis.flushall()
    const fitting = await portal.get('payment-methods?total=5000')
    expect(fitting.body.methods.map((offer: { method: string }) => offer.method)).to.deep.equal(['pix'])
  })
})

import { mostPrices, outletKinds, revenueGroups } from '../../config/inventory.ts'
import { sampleId } from '../../config/samples.ts'
import {
  AnyOf,
  Bool,
  Day,
  Int,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  TimeOfDay,
  Uuid,
} from '../../config/schema.ts'
import { outletOf, readOutlets, readPrices, replaceOutlets, replacePrices } from '../../db/inventory/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Cost, Held, Name, path, PriceCode, Quantity, version } from './schemas.ts'

const outlet = {
  code: Matching('^[A-Z0-9]{1,6}$', 6),
  name: Name,
  kind: OneOf([...outletKinds]),
  /** Stock that its sales take from. */
  locationId: Uuid,
}
const terms = {
  /** Guests in the house may sign for what they have. */
  roomCharge: Bool,
  /** Basis points. */
  serviceChargeRate: Int(0, 2_000),
}
const Outlets = Obj(
  { data: List(Obj({ id: Uuid, propertyId: Uuid, ...outlet, ...terms }), { max: 100 }), version },
  { title: 'Outlets' },
)

const list = route({
  id: 'outlets.list',
  method: 'GET',
  path: `${path}/outlets`,
  summary: 'List outlets',
  access: can('read', 'Outlet'),
  query: Obj({ propertyId: Uuid }),
  example: { propertyId: sampleId('propertyId') },
  returns: Outlets,
  errors: ['not_found'],
  handle: ({ trx, query: { propertyId }, admission }) => {
    admission.check('read', 'Outlet', { propertyId })
    return readOutlets(trx, propertyId)
  },
})

const replace = route({
  id: 'outlets.replace',
  method: 'PUT',
  path: `${path}/outlets`,
  summary: 'Replace the set of outlets of a property',
  description:
    'An entry with an id is changed, one without is new, one that is left out is archived with its prices. An outlet with open orders stays. `If-Match` is the version of the set.',
  access: can('update', 'Outlet'),
  errors: ['in_use', 'reference_not_found', 'version_conflict', 'duplicate_code', 'not_found', 'invalid_transition'],
  body: Obj({
    propertyId: Uuid,
    outlets: List(Obj({ id: Opt(Uuid), ...outlet, roomCharge: Opt(Bool), serviceChargeRate: Opt(Int(0, 2_000)) }), {
      max: 100,
    }),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    outlets: [
      {
        id: sampleId('outletId'),
        code: 'BAR',
        name: 'Bar',
        kind: 'bar',
        locationId: sampleId('locationId'),
        roomCharge: true,
        serviceChargeRate: 1_000,
      },
    ],
  },
  returns: Outlets,
  handle: async ({ trx, body: { propertyId, outlets }, expectedVersion, admission }) => {
    admission.check('update', 'Outlet', { propertyId })
    const entries = outlets.map(({ roomCharge = false, serviceChargeRate = 0, ...entry }) => ({
      ...entry,
      roomCharge,
      serviceChargeRate,
    }))
    await replaceOutlets(trx, propertyId, entries, expectedVersion)
    return readOutlets(trx, propertyId)
  },
})

const price = { code: PriceCode, name: Name, revenueGroup: OneOf([...revenueGroups]) }
const WeekDays = List(Int(1, 7), { min: 1, max: 7 }, { uniqueItems: true })
const when = {
  itemId: Nullable(Uuid),
  recipeId: Nullable(Uuid),
  /** Of the outlet where null. */
  locationId: Nullable(Uuid),
  validFrom: Nullable(Day),
  validTo: Nullable(Day),
  /** 1 = Monday … 7; null is every day. */
  weekDays: Nullable(WeekDays),
  /** By the clock of the property. Hours that end before they begin go over midnight. */
  timeFrom: Nullable(TimeOfDay),
  timeTo: Nullable(TimeOfDay),
}
const Prices = Obj(
  {
    data: List(Obj({ id: Uuid, ...price, ...when, quantity: Held, amount: Cost }), { max: mostPrices }),
    version,
  },
  { title: 'PriceList' },
)

const listPrices = route({
  id: 'prices.list',
  method: 'GET',
  path: `${path}/outlets/:outletId/prices`,
  summary: 'Read the price list of an outlet',
  access: can('read', 'PriceList'),
  returns: Prices,
  handle: async ({ trx, params: { outletId }, admission }) => {
    const { propertyId } = await outletOf(trx, outletId)
    admission.check('read', 'PriceList', { propertyId })
    return readPrices(trx, outletId)
  },
})

const entry = Obj({
  id: Opt(Uuid),
  ...price,
  itemId: Opt(Nullable(Uuid)),
  recipeId: Opt(Nullable(Uuid)),
  quantity: Opt(Quantity),
  amount: Cost,
  locationId: Opt(Nullable(Uuid)),
  validFrom: Opt(Nullable(Day)),
  validTo: Opt(Nullable(Day)),
  weekDays: Opt(Nullable(WeekDays)),
  timeFrom: Opt(Nullable(TimeOfDay)),
  timeTo: Opt(Nullable(TimeOfDay)),
})

const replaceList = route({
  id: 'prices.replace',
  method: 'PUT',
  path: `${path}/outlets/:outletId/prices`,
  summary: 'Replace the price list of an outlet',
  description:
    'Amounts include their taxes. `quantity` is what one sold takes of the item’s base, or portions of the recipe; 1 unless said. Rows of one code may differ by dates, days and hours; one with hours goes first in them. `copyFromOutletId` takes the list of another outlet.',
  access: can('update', 'PriceList'),
  errors: ['price_overlap', 'reference_not_found', 'version_conflict', 'invalid_transition'],
  body: AnyOf([Obj({ prices: List(entry, { max: mostPrices }) }), Obj({ copyFromOutletId: Uuid })]),
  example: {
    prices: [
      { code: 'GIN', name: 'Gin', itemId: sampleId('itemId'), quantity: '50', amount: 2_500, revenueGroup: 'beverage' },
    ],
  },
  returns: Prices,
  handle: async ({ trx, params: { outletId }, body, expectedVersion, admission }) => {
    const { propertyId } = await outletOf(trx, outletId)
    admission.check('update', 'PriceList', { propertyId })
    if ('copyFromOutletId' in body) {
      const source = await outletOf(trx, body.copyFromOutletId)
      admission.check('read', 'PriceList', { propertyId: source.propertyId })
      await replacePrices(trx, outletId, { copyFrom: body.copyFromOutletId }, expectedVersion)
    } else {
      const entries = body.prices.map((one) => ({
        ...one,
        itemId: one.itemId ?? null,
        recipeId: one.recipeId ?? null,
        quantity: one.quantity ?? '1',
        locationId: one.locationId ?? null,
        validFrom: one.validFrom ?? null,
        validTo: one.validTo ?? null,
        weekDays: one.weekDays ?? null,
        timeFrom: one.timeFrom ?? null,
        timeTo: one.timeTo ?? null,
      }))
      await replacePrices(trx, outletId, { entries }, expectedVersion)
    }
    return readPrices(trx, outletId)
  },
})

export const routes = [list, replace, listPrices, replaceList]

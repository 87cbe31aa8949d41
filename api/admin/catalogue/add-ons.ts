import { meters } from '../../../config/meters.ts'
import {
  Amount,
  Bool,
  Count,
  Instant,
  List,
  LocalName,
  LocalText,
  MapOf,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
} from '../../../config/schema.ts'
import { changeAddOn, createAddOn, listAddOns } from '../../../db/admin/index.ts'
import { superuser } from '../../lib/access/kinds.ts'
import { paged } from '../../lib/paged.ts'
import { route } from '../../lib/route.ts'
import { BillingType, Tiers, UnitPrice } from '../billing-schemas.ts'
import { Plan, FeatureKey, currencies } from './schemas.ts'

const Meter = OneOf([...meters])

export const Price = Obj({ amount: Opt(Amount), unitPrice: Opt(UnitPrice), tiers: Opt(Tiers) })

const AddOn = Obj(
  {
    id: Uuid,
    key: Text(1, 40),
    name: LocalText,
    description: LocalText,
    feature: FeatureKey,
    billingType: BillingType,
    meter: Nullable(Text(1, 40)),
    /** Plans that may buy it; all where it is empty. */
    plans: List(Plan, { max: 10 }),
    onSale: Bool,
    holders: Count,
    /** Newest first. */
    prices: List(
      Obj({
        priceId: Uuid,
        number: Count,
        effectiveFrom: Instant,
        applyToHolders: Bool,
        prices: MapOf(Price, currencies),
      }),
      { max: 100 },
    ),
    version: Count,
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'AddOn' },
)

export const addOnList = paged({
  id: 'superuser.addOns.list',
  path: '/superuser/add-ons',
  summary: 'List add-ons with price versions and holders',
  access: superuser('N2', 'read', 'AddOn'),
  of: AddOn,
  find: ({ trx, query }) => listAddOns(trx, query),
})

const NewPrice = Obj({
  /** By currency: `amount` of FLAT_MONTHLY, `unitPrice` of METERED, `tiers` of TIERED, nothing of FREE. */
  prices: MapOf(Price, currencies),
  effectiveFrom: Opt(Instant),
  applyToHolders: Opt(Bool),
})

export const addOnCreate = route({
  id: 'superuser.addOns.create',
  method: 'POST',
  path: '/superuser/add-ons',
  summary: 'Create an add-on for the store',
  status: 201,
  access: superuser('N1', 'create', 'AddOn'),
  errors: ['duplicate_key', 'unknown_feature', 'plan_without_price'],
  body: Obj({
    key: Matching('^[a-z][a-z0-9-]{1,39}$', 40),
    name: LocalName,
    description: LocalText,
    feature: FeatureKey,
    billingType: BillingType,
    meter: Opt(Nullable(Meter)),
    plans: Opt(List(Plan, { max: 3 }, { uniqueItems: true })),
    onSale: Bool,
    price: NewPrice,
  }),
  example: {
    key: 'pos-light',
    name: { en: 'Point of sale, light' },
    description: { en: 'For small bars' },
    feature: 'pos',
    billingType: 'FLAT_MONTHLY',
    onSale: true,
    price: { prices: { BRL: { amount: 4_900 } } },
  },
  returns: AddOn,
  handle: ({ trx, body }) => createAddOn(trx, body),
})

export const addOnChange = route({
  id: 'superuser.addOns.update',
  method: 'PATCH',
  path: '/superuser/add-ons/:addOnId',
  summary: 'Change texts, sale or price of an add-on',
  description:
    'A new price is for later purchases. With `applyToHolders`, 30 days ahead at least, it is also for holders, from their first period that begins after it; they are told at once.',
  access: superuser('N1', 'update', 'AddOn'),
  errors: ['plan_without_price', 'version_conflict'],
  body: Obj({
    name: Opt(LocalName),
    description: Opt(LocalText),
    plans: Opt(List(Plan, { max: 3 }, { uniqueItems: true })),
    onSale: Opt(Bool),
    price: Opt(NewPrice),
  }),
  example: { onSale: true },
  returns: AddOn,
  handle: ({ trx, params, body, expectedVersion }) => changeAddOn(trx, params.addOnId, body, expectedVersion),
})

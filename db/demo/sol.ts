import type { CancellationRules, DepositRules } from '../../config/policy-rules.ts'
import type { Trx } from '../connection.ts'
import { defaultBook } from '../financial/index.ts'
import { addSandboxAccount } from '../payment/index.ts'
import { createExtra, createPromoCode, createTaxRule, setAgeCategories } from '../properties/charges.ts'
import { createProperty, goLive } from '../properties/commands.ts'
import { addImages, setPaymentMethods } from '../properties/portal.ts'
import { createPolicy, createRatePlan } from '../properties/rates.ts'
import { createUnitType, createUnits } from '../units/commands.ts'
import { sol } from './ids.ts'
import { pricePlan, timeZone } from './prices.ts'

const none = { type: 'none', value: 0, of: 'total' } as const
const full = { type: 'full', value: 0, of: 'total' } as const

const flexible: CancellationRules = {
  tiers: [
    { hoursBeforeArrival: 168, fee: none },
    { hoursBeforeArrival: 48, fee: { type: 'percent', value: 5000, of: 'total' } },
  ],
  after: full,
  graceHoursAfterBooking: 0,
  earlyDeparture: { type: 'nights', value: 1, of: 'room' },
}
const strict: CancellationRules = { tiers: [], after: full, graceHoursAfterBooking: 0, earlyDeparture: full }
const third: DepositRules = { installments: [{ due: 'booking', type: 'percent', value: 3000 }], graceHours: 24, ifUnpaid: 'warn' }
const whole: DepositRules = { installments: [{ due: 'booking', type: 'remaining', value: 0 }], graceHours: 24, ifUnpaid: 'cancel' }

const picture = (name: string) => ({
  url: `https://images.pousada.example/sol/${name}.jpg`,
  facts: { width: 1600, height: 1067, mimeType: 'image/jpeg', bytes: 312_000 },
})

const base = { standard: 32_000, deluxe: 46_000, master: 89_000 }

const buildProperty = (trx: Trx) =>
  createProperty(trx, {
    id: sol.propertyId,
    code: 'SOL',
    slug: 'pousada-do-sol',
    name: 'Pousada do Sol',
    description: {
      'pt-BR': 'Doze quartos entre a mata e o mar, a dez minutos do centro histórico de Paraty.',
      en: 'Twelve rooms between forest and sea, ten minutes from the historic centre of Paraty.',
    },
    kind: 'inn',
    timezone: timeZone,
    currency: 'BRL',
    locales: ['pt-BR', 'en'],
    address: { line1: 'Rua das Canoas, 45', district: 'Jabaquara', city: 'Paraty', region: 'RJ', postalCode: '23970-000', countryCode: 'BR' },
    geo: { latitude: -23.211_24, longitude: -44.718_36 },
    phone: '+552433710045',
    email: 'contato@sol.example',
    website: 'https://sol.example',
    legalName: 'Pousada do Sol Ltda',
    legalDocument: '11222333000181',
    registryNumber: '21.012345.10.0001-4',
    checkInFrom: '14:00',
    checkInUntil: '22:00',
    checkOutUntil: '12:00',
    cleaningMinutes: 120,
    amenities: ['wifi', 'breakfast', 'pool', 'free_parking', 'garden', 'air_conditioning', 'luggage_storage'],
    houseRules: { 'pt-BR': 'Silêncio das 22h às 7h. Não é permitido fumar nos quartos.', en: 'Quiet from 22:00 to 07:00. No smoking in the rooms.' },
    settings: {
      portal: {
        enabled: true,
        theme: { primaryColour: '#e8a33d', logoUrl: 'https://images.pousada.example/sol/logo.png' },
        terms: {
          'pt-BR': 'A reserva vale para as pessoas indicadas. Na chegada, apresente um documento com foto.',
          en: 'The booking is for the persons named. Please show a photo identification on arrival.',
        },
        privacyUrl: 'https://sol.example/privacidade',
        returnHosts: ['portal.sol.example', 'sol.example'],
      },
    },
  })

const buildTypes = async (trx: Trx) => {
  const { propertyId } = sol
  await createUnitType(trx, {
    id: sol.standard,
    propertyId,
    code: 'STD',
    name: { 'pt-BR': 'Quarto Jardim', en: 'Garden Room' },
    description: { 'pt-BR': 'No térreo, com rede na varanda.', en: 'On the ground floor, with a hammock on the veranda.' },
    kind: 'private',
    baseOccupancy: 2,
    maxAdults: 2,
    maxChildren: 1,
    maxOccupancy: 3,
    beds: [{ kind: 'queen', count: 1 }],
    sizeM2: 22,
    amenities: ['wifi', 'air_conditioning', 'private_bathroom', 'hammock', 'fridge'],
    position: 0,
  })
  await createUnitType(trx, {
    id: sol.deluxe,
    propertyId,
    code: 'DLX',
    name: { 'pt-BR': 'Quarto Vista Mar', en: 'Sea View Room' },
    description: { 'pt-BR': 'Varanda com vista para a baía.', en: 'A balcony over the bay.' },
    kind: 'private',
    baseOccupancy: 2,
    maxAdults: 3,
    maxChildren: 2,
    maxOccupancy: 4,
    beds: [
      { kind: 'king', count: 1 },
      { kind: 'sofa_bed', count: 1 },
    ],
    sizeM2: 32,
    amenities: ['wifi', 'air_conditioning', 'private_bathroom', 'sea_view', 'balcony', 'minibar', 'safe'],
    position: 1,
  })
  await createUnitType(trx, {
    id: sol.master,
    propertyId,
    code: 'MASTER',
    name: { 'pt-BR': 'Suíte Master', en: 'Master Suite' },
    description: { 'pt-BR': 'A casa inteira no alto do jardim, com ofurô.', en: 'The whole house at the top of the garden, with a hot tub.' },
    kind: 'private',
    baseOccupancy: 2,
    maxAdults: 4,
    maxChildren: 2,
    maxOccupancy: 5,
    beds: [
      { kind: 'king', count: 1 },
      { kind: 'single', count: 2 },
    ],
    sizeM2: 68,
    amenities: ['wifi', 'air_conditioning', 'private_bathroom', 'sea_view', 'hot_tub', 'kitchen', 'minibar', 'safe'],
    position: 2,
  })
  await createUnits(trx, { propertyId, unitTypeId: sol.standard, names: ['101', '102', '103', '104', '105', '106', '107'], floor: 0, condition: 'inspected' })
  await createUnits(trx, { propertyId, unitTypeId: sol.deluxe, names: ['201', '202', '203', '204'], floor: 1, attributes: ['sea_view'], condition: 'inspected' })
  await createUnits(trx, { propertyId, unitTypeId: sol.master, names: ['301'], floor: 2, attributes: ['sea_view', 'quiet'], condition: 'inspected' })
}

const buildCharges = async (trx: Trx) => {
  const { propertyId } = sol
  const ages = await setAgeCategories(trx, propertyId, [
    { code: 'INFANT', name: { 'pt-BR': 'Bebê', en: 'Infant' }, minAge: 0, maxAge: 2, kind: 'infant', countsInOccupancy: false },
    { code: 'CHILD', name: { 'pt-BR': 'Criança', en: 'Child' }, minAge: 3, maxAge: 11, kind: 'child', countsInOccupancy: true },
    { code: 'ADULT', name: { 'pt-BR': 'Adulto', en: 'Adult' }, minAge: 12, maxAge: null, kind: 'adult', countsInOccupancy: true },
  ])
  const infant = ages.get('INFANT') ?? ''
  const child = ages.get('CHILD') ?? ''
  const validFrom = '2020-01-01'
  await createTaxRule(trx, { propertyId, code: 'ISS', name: { 'pt-BR': 'ISS', en: 'Service tax (ISS)' }, kind: 'tax', basis: 'percent', rate: 500, included: true, appliesTo: 'both', validFrom })
  await createTaxRule(trx, {
    propertyId,
    code: 'TURISMO',
    name: { 'pt-BR': 'Taxa de turismo', en: 'Tourism fee' },
    kind: 'fee',
    basis: 'per_person_per_night',
    amount: 350,
    appliesTo: 'room',
    exemptAgeCategoryIds: [infant, child],
    maxNights: 10,
    validFrom,
  })
  const extra = { propertyId, maxQuantity: 4 }
  await createExtra(trx, { ...extra, code: 'EARLY', name: { 'pt-BR': 'Entrada antecipada', en: 'Early check-in' }, category: 'early_check_in', revenueGroup: 'rooms', amount: 12_000, basis: 'per_stay', maxQuantity: 1, cutoffHours: 24 })
  await createExtra(trx, { ...extra, code: 'LATE', name: { 'pt-BR': 'Saída tardia', en: 'Late check-out' }, category: 'late_check_out', revenueGroup: 'rooms', amount: 15_000, basis: 'per_stay', maxQuantity: 1 })
  await createExtra(trx, { ...extra, code: 'TRANSFER', name: { 'pt-BR': 'Traslado da rodoviária', en: 'Transfer from the bus station' }, category: 'transport', revenueGroup: 'other', amount: 8_000, basis: 'per_unit', cutoffHours: 12 })
  await createExtra(trx, { ...extra, code: 'BOAT', name: { 'pt-BR': 'Passeio de escuna', en: 'Schooner trip' }, category: 'activity', revenueGroup: 'tours', amount: 14_000, basis: 'per_person', maxQuantity: 1, cutoffHours: 24, dailyLimit: 30 })
  return { infant, child }
}

const buildPlans = async (trx: Trx, { infant, child }: { infant: string; child: string }) => {
  const { propertyId } = sol
  const cancellationPolicyId = await createPolicy(trx, { propertyId, code: 'FLEX', name: 'Flexível', kind: 'cancellation', rules: flexible })
  const strictId = await createPolicy(trx, { propertyId, code: 'STRICT', name: 'Não reembolsável', kind: 'cancellation', rules: strict })
  const noShowPolicyId = await createPolicy(trx, { propertyId, code: 'NOSHOW', name: 'Não comparecimento', kind: 'no_show', rules: { fee: full, releaseRemaining: true } })
  const depositPolicyId = await createPolicy(trx, { propertyId, code: 'DEP30', name: 'Sinal de 30%', kind: 'deposit', rules: third })
  const wholeId = await createPolicy(trx, { propertyId, code: 'PREPAID', name: 'Pagamento antecipado', kind: 'deposit', rules: whole })
  const children = [
    { ageCategoryId: infant, type: 'free' as const, value: 0 },
    { ageCategoryId: child, type: 'amount' as const, value: 6_000 },
  ]
  const entry = (unitTypeId: string, standardAmount: number | null) => ({
    unitTypeId,
    standardAmount,
    adults: { 1: { type: 'percent' as const, value: -1000 } },
    extraAdultAmount: 11_000,
    children,
  })
  await createRatePlan(trx, {
    id: sol.flexible,
    propertyId,
    code: 'FLEX',
    name: { 'pt-BR': 'Tarifa flexível com café da manhã', en: 'Flexible rate with breakfast' },
    description: { 'pt-BR': 'Cancele sem custo até 7 dias antes.', en: 'Cancel free of charge up to 7 days before.' },
    mealPlan: 'breakfast',
    cancellationPolicyId,
    noShowPolicyId,
    depositPolicyId,
    losDiscounts: [{ minNights: 7, rate: 500 }],
    unitTypes: [entry(sol.standard, base.standard), entry(sol.deluxe, base.deluxe), entry(sol.master, base.master)],
  })
  await createRatePlan(trx, {
    id: sol.saver,
    propertyId,
    code: 'SAVER',
    name: { 'pt-BR': 'Tarifa promocional não reembolsável', en: 'Saver rate, not refundable' },
    mealPlan: 'breakfast',
    cancellationPolicyId: strictId,
    noShowPolicyId,
    depositPolicyId: wholeId,
    parentId: sol.flexible,
    derivation: { type: 'percent', value: -1200, roundTo: 100, mode: 'nearest' },
    unitTypes: [entry(sol.standard, null), entry(sol.deluxe, null), entry(sol.master, null)],
  })
  await createPromoCode(trx, { propertyId, code: 'SOL10', type: 'percent', value: 1000, minNights: 2, maxRedemptions: 500 })
}

/** "Pousada do Sol": an inn of 12 units that guests can book, with everything that a booking passes through. */
export const buildSol = async (trx: Trx): Promise<void> => {
  const { propertyId, gatewayAccountId } = sol
  const book = await defaultBook(trx)
  if (!book) throw new Error('the tenant has no book')
  await buildProperty(trx)
  await addSandboxAccount(trx, { id: gatewayAccountId, bookId: book.id, country: 'BR', currency: 'BRL', label: 'Sandbox' })
  await buildTypes(trx)
  await buildPlans(trx, await buildCharges(trx))
  await pricePlan(trx, propertyId, sol.flexible, { [sol.standard]: base.standard, [sol.deluxe]: base.deluxe, [sol.master]: base.master })
  await addImages(trx, propertyId, [
    { ...picture('facade'), category: 'exterior', caption: { 'pt-BR': 'A casa principal', en: 'The main house' } },
    { ...picture('pool'), category: 'common', caption: { 'pt-BR': 'A piscina', en: 'The pool' } },
    { ...picture('breakfast'), category: 'food', caption: { 'pt-BR': 'O café da manhã', en: 'Breakfast' } },
    { ...picture('garden-room'), category: 'unit', unitTypeId: sol.standard, caption: { 'pt-BR': 'Quarto Jardim', en: 'Garden Room' } },
    { ...picture('sea-view-room'), category: 'unit', unitTypeId: sol.deluxe, caption: { 'pt-BR': 'Quarto Vista Mar', en: 'Sea View Room' } },
    { ...picture('master-suite'), category: 'unit', unitTypeId: sol.master, caption: { 'pt-BR': 'Suíte Master', en: 'Master Suite' } },
  ])
  await setPaymentMethods(trx, propertyId, [
    { method: 'pix', offeredTo: 'both', gatewayAccountId, instructions: { 'pt-BR': 'O código vale por 30 minutos.', en: 'The code is good for 30 minutes.' } },
    { method: 'card', offeredTo: 'both', gatewayAccountId, maxInstallments: 6 },
    { method: 'cash', offeredTo: 'staff' },
  ])
  await goLive(trx, propertyId)
}

import { invalid } from '../../config/errors.ts'
import { Day, List, Nullable, Obj, OneOf, Opt, Text, TimeOfDay, Uuid } from '../../config/schema.ts'
import { daysBetween } from '../../config/time.ts'
import { statusOf } from '../../db/lib/locked-property.ts'
import { tapeItems, tapeUnassigned, tapeUnits, assignmentStatuses } from '../../db/units/index.ts'
import type { TapeItem } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Building, Condition, Floor, Occupancy, Service, Unit, UnitName, unitFields } from './schemas.ts'
import { seesGuests } from './unit-blocks.ts'

const mostDays = 62
const mostUnits = 300
const { id, unitTypeId, unitPoolId, ready, discrepancy } = Unit.properties
const GuestName = Opt(Nullable(Text(0, 302)))

const TapeChart = Obj(
  {
    units: List(
      Obj({
        unit: Obj({
          id,
          name: UnitName,
          building: unitFields.building,
          floor: unitFields.floor,
          unitTypeId,
          unitPoolId,
          attributes: unitFields.attributes,
          condition: Condition,
          occupancy: Occupancy,
          service: Service,
          ready,
          discrepancy,
        }),
        items: List(
          Obj({
            assignmentId: Uuid,
            kind: OneOf(['stay', 'block']),
            reservationId: Opt(Uuid),
            unitBlockId: Opt(Uuid),
            from: Day,
            to: Day,
            status: OneOf([...assignmentStatuses]),
            guestName: GuestName,
            arrivalTime: Opt(Nullable(TimeOfDay)),
            departureTime: Opt(Nullable(TimeOfDay)),
          }),
          { max: 1_000 },
        ),
      }),
      { max: mostUnits },
    ),
    unassigned: List(
      Obj({
        reservationId: Uuid,
        unitTypeId: Uuid,
        from: Day,
        to: Day,
        status: OneOf(['confirmed', 'checked_in']),
        guestName: GuestName,
      }),
      { max: 1_000 },
    ),
  },
  { title: 'TapeChart' },
)

const read = route({
  id: 'unitCalendar.read',
  method: 'GET',
  path: '/api/tenants/:tenantId/unit-calendar',
  summary: 'Read the tape chart of stays and blocks',
  description: `\`[from, to)\`, ${mostDays} days and ${mostUnits} units at most. Guests are named to roles that read guests.`,
  access: can('read', 'UnitAssignment'),
  query: Obj({
    propertyId: Uuid,
    from: Day,
    to: Day,
    unitTypeId: Opt(List(Uuid, { max: 50 })),
    building: Opt(Building),
    floor: Opt(Floor),
  }),
  errors: ['range_too_long', 'not_found'],
  returns: TapeChart,
  handle: async ({ trx, query, admission }) => {
    const { from, to } = query
    if (to <= from) throw invalid([{ field: 'to', message: 'must be after from' }])
    if (daysBetween(from, to) > mostDays) throw tooMuch('to', `must be within ${mostDays} days`)
    const filter = { ...query, scope: admission.scope('read', 'UnitAssignment') }
    const units = await tapeUnits(trx, filter, mostUnits)
    if (units.length === 0) await statusOf(trx, query.propertyId)
    if (units.length > mostUnits)
      throw tooMuch('unitTypeId', `more than ${mostUnits} units; name types, a building or a floor`)
    const items = await tapeItems(
      trx,
      units.map((unit) => unit.id),
      from,
      to,
    )
    const unassigned = await tapeUnassigned(trx, filter)
    const named = seesGuests(admission)
    const nameOf = ({ guestName }: { guestName: string | null }) => (named ? { guestName } : {})
    const ofUnit = new Map(units.map((unit) => [unit.id, [] as TapeItem[]]))
    for (const item of items) ofUnit.get(item.unitId)?.push(item)
    return {
      units: units.map((unit) => ({
        unit,
        items: (ofUnit.get(unit.id) ?? []).map(
          ({ reservationId, unitBlockId, arrivalTime, departureTime, ...item }) => ({
            assignmentId: item.assignmentId,
            kind: item.kind,
            from: item.from,
            to: item.to,
            status: item.status,
            ...(unitBlockId === null ? {} : { unitBlockId }),
            ...(reservationId === null ? {} : { reservationId, arrivalTime, departureTime, ...nameOf(item) }),
          }),
        ),
      })),
      unassigned: unassigned.map((stay) => ({
        reservationId: stay.reservationId,
        unitTypeId: stay.unitTypeId,
        from: stay.from,
        to: stay.to,
        status: stay.status,
        ...nameOf(stay),
      })),
    }
  },
})

const tooMuch = (field: string, message: string) =>
  invalid([{ field, message }], 'range_too_long', 'The chart would be too large')

export const routes = [read]

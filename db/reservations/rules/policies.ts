import type { PolicySnapshots } from '../../../config/policy-rules.ts'
import type { ReservationRow } from '../../rows.ts'

export const policiesOf = (reservation: Pick<ReservationRow, 'policies'>) => reservation.policies as PolicySnapshots

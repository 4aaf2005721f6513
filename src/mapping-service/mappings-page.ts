import {
  checkOptionalText,
  type Fields,
  readMasterId,
  readObjects,
  readOptionalTexts,
  readText,
} from './answer-fields.js';
import type { Channel, Envelope, MappingRecord, MappingsPage } from './operations.js';

/**
 * Reads the answer of Get Mappings (spec 2.2 and 2.3).
 *
 * @param masterIdName what the service calls the master id; it is `ServiceId` in what is returned
 * @param date the answer's header
 * @throws InvalidField
 */
export function readMappingsPage(
  envelope: Envelope,
  { masterIdName, date }: { readonly masterIdName: string; readonly date: string | undefined },
): MappingsPage {
  checkOptionalText(envelope, 'ResumeKey');
  const Mappings = readObjects(envelope, 'Mappings').map(({ fields, at }) =>
    readMapping(fields, at, masterIdName),
  );
  return { ...envelope, Mappings, answeredAt: readDate(date) };
}

function readMapping(fields: Fields, at: string, masterIdName: string): MappingRecord {
  checkOptionalText(fields, 'ProviderLocationCode', at);
  checkOptionalText(fields, 'Type', at);
  return {
    ...(leaveOut(fields, masterIdName) as Omit<MappingRecord, 'ServiceId'>),
    ServiceId: readMasterId(fields, masterIdName, at),
    ProviderHotelId: readText(fields, 'ProviderHotelId', at),
    ProviderName: readText(fields, 'ProviderName', at),
    channels: readOptionalTexts(fields, 'ChannelIds', at).map(cutChannel),
  };
}

/** Copying with a name left out takes several times as long: only where the name is another one. */
function leaveOut(fields: Fields, masterIdName: string): Fields {
  if (masterIdName === 'ServiceId') return fields;
  const { [masterIdName]: _, ...others } = fields;
  return others;
}

/** An element combines a channel name and a rate plan type by a comma; the latter may hold further commas. (Spec 2.2.) */
function cutChannel(original: string): Channel {
  const comma = original.indexOf(',');
  if (comma === -1) return { channel: original.trim(), original };
  return {
    channel: original.slice(0, comma).trim(),
    ratePlanType: original.slice(comma + 1).trim(),
    original,
  };
}

/** The header `Date` of an answer; undefined where it holds none. */
export function readDate(header: string | undefined): Date | undefined {
  const milliseconds = Date.parse(header ?? '');
  return Number.isNaN(milliseconds) ? undefined : new Date(milliseconds);
}

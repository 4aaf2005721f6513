/** The service refuses a call, inside a success unless the HTTP status says otherwise. The message names no guest and quotes no secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly statusCode: number,
    message: string,
    readonly httpStatus = 200,
  ) {
    super(message);
  }
}

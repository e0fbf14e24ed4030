#' Measure how much a data frame exposes the people in it
#'
#' Columns are handed over as plain lists: factors as their labels, whole numbers as whole numbers,
#' dates as text, NA as missing. NaN is missing too.
#'
#' @param df A data frame, one row per record.
#' @param quasi Names of the columns that an attacker may know.
#' @param sensitive Names of the columns that must stay secret.
#' @param policy A policy: the path of a TOML file, or NULL.
#' @param ... Other arguments of `sievert.assess` in Python, such as `missing = "wildcard"`; not
#'   `planned`: the answer is about `df` as it is.
#' @return A list: `reidentification`, `inference`, `policy` and the other chapters of the JSON.
#' @examples
#' \dontrun{
#' result <- sievert_assess(data.frame(zip = c("1", "1", NA), ill = c("flu", "hiv", "flu")), "zip", "ill")
#' result$reidentification$k_anonymity$value
#' }
#' @export
sievert_assess <- function(df, quasi = NULL, sensitive = NULL, policy = NULL, ...) {
  if (!is.data.frame(df)) stop("df is not a data frame")
  if ("planned" %in% names(list(...))) {
    stop("planned is about no data frame that could go out: leave the columns out of df, or ask in Python")
  }
  columns <- lapply(df, plain_column)
  if (anyDuplicated(names(columns))) stop("two columns of df have the same name")
  table <- reticulate::dict()
  for (name in names(columns)) table[[name]] <- columns[[name]]
  library_of_measures <- reticulate::import("sievert", convert = FALSE)
  given <- list(table, policy = policy, ...)
  if (!is.null(quasi)) given$quasi <- as.list(quasi)
  if (!is.null(sensitive)) given$sensitive <- as.list(sensitive)
  result <- do.call(library_of_measures$assess, given)
  # As JSON: whole numbers stay whole, and what is undefined is NULL.
  json <- reticulate::import("json", convert = FALSE)
  reticulate::py_to_r(json$loads(json$dumps(result$to_dict())))
}

# A column as a list of Python's own values, None where a value is missing.
plain_column <- function(column) {
  if (is.factor(column)) {
    column <- as.character(column)
  } else if (inherits(column, "Date")) {
    column <- format(column, "%Y-%m-%d")
  } else if (inherits(column, "POSIXt")) {
    column <- format(as.POSIXct(column), "%Y-%m-%dT%H:%M:%OS6", tz = "UTC")
  } else if (inherits(column, "difftime")) {
    column <- as.numeric(column)
  }
  known <- is.character(column) || is.logical(column) || is.numeric(column)
  if (!known || is.object(column) || !is.null(dim(column))) {
    stop("a column is neither text nor numbers, logical, a factor nor dates: convert it first")
  }
  if (is.character(column)) column <- enc2utf8(column)
  missing <- is.na(column)
  values <- as.list(unname(column))
  values[missing] <- list(NULL)
  values
}
